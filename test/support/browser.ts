import chromium from '@sparticuz/chromium';
import { chromium as playwright, type BrowserContextOptions, type Page } from 'playwright-core';

export const phone: BrowserContextOptions = { viewport: { width: 375, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
export const desktop: BrowserContextOptions = { viewport: { width: 1200, height: 900 } };

export interface TestBrowser {
  /** What the pages complained about: a blocked file or script would be here. */
  complaints: string[];
  openPage(url: string, options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

/** A real Chromium. */
export async function launchBrowser(): Promise<TestBrowser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  const inherited = chromium.args.filter((flag) => flag !== '--single-process' && flag !== '--no-zygote');
  const browser = await playwright.launch({ executablePath: await chromium.executablePath(), headless: true, args: [...inherited, '--no-sandbox', ...quiet] });
  const complaints: string[] = [];
  return {
    complaints,
    async openPage(url, options = desktop) {
      const page = await (await browser.newContext(options)).newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().includes('the server responded with a status of')) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(url);
      return page;
    },
    close: () => browser.close(),
  };
}

/** `SIGNALBOX_SCREENSHOTS=<folder>` keeps what the pages look like. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.SIGNALBOX_SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Key by key, as a person does. */
export async function typeCard(page: Page, number: string): Promise<void> {
  await page.getByLabel('Card number').pressSequentially(number);
  await page.getByLabel('Expiry date').pressSequentially('1240');
  await page.getByLabel('Security code').pressSequentially('123');
}
