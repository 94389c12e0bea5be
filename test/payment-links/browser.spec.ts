import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { freshAccount } from '../support/account.js';
import { desktop, launchBrowser, phone, shoot, typeCard, type TestBrowser } from '../support/browser.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { intentsOf, moneyOf, newLink, openLinkShop, type LinkShop } from './visitor.js';

jest.setTimeout(180_000);

let stack: PrivateStack;
let browser: TestBrowser;
let shop: LinkShop;
let seller: Server;
let thanks: string;

beforeAll(async () => {
  stack = await startStack({ extra: { LINK_ATTEMPTS_PER_ADDRESS: '100/600' } });
  browser = await launchBrowser();
  seller = createServer((_request, response) => response.end('<title>Seller</title><h1>Thank you</h1>')).listen(0, '127.0.0.1');
  await new Promise((done) => seller.once('listening', done));
  thanks = `http://127.0.0.1:${(seller.address() as AddressInfo).port}/thanks`;
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  shop = await openLinkShop({ account, simulatorUrl: stack.simulator.url });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  seller?.closeAllConnections();
  seller?.close();
  await stack?.stop();
}, 180_000);

async function typePayer(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Full name').fill('Ada Lovelace');
}

const payButton = (page: Page) => page.getByRole('button', { name: /^Pay/ });

async function declineThenPay(page: Page, name: string): Promise<void> {
  await shoot(page, `${name}-form`);
  await typePayer(page);
  await typeCard(page, '4000000000000341');
  await payButton(page).click();
  const problem = page.getByRole('alert');
  await problem.getByText('Your card was declined').waitFor();
  await shoot(page, `${name}-declined`);
  expect(await problem.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  expect(await page.getByLabel('Card number').inputValue()).toBe('');
  await typeCard(page, '4242424242424242');
  await payButton(page).click();
}

describe.each([
  ['a desktop', desktop, true], ['a desktop without JavaScript', desktop, false], ['a phone', phone, true], ['a phone without JavaScript', phone, false],
] as const)('on %s', (name, options, javaScriptEnabled) => {
  it('a declined card and then another pay once and land on the seller\'s page', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const page = await browser.openPage(link.url, { ...options, javaScriptEnabled });
    await declineThenPay(page, name.replaceAll(' ', '-'));
    await page.waitForURL(thanks);
    expect(await page.title()).toBe('Seller');
    const [intent, ...more] = await intentsOf(shop, link.id);
    expect(more).toEqual([]);
    expect(intent).toMatchObject({ status: 'succeeded', amount_atom_received: 2_800 });
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
    await page.context().close();
  });

  it('nothing is wider than the screen', async () => {
    const link = await newLink(shop);
    const page = await browser.openPage(link.url, options);
    const [wide, screen] = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]') as [number, number];
    expect(wide).toBeLessThanOrEqual(screen);
    await page.context().close();
  });
});

describe('the form in a browser', () => {
  it('groups the digits, says what is missing without sending it, and takes the focus there', async () => {
    const link = await newLink(shop);
    const page = await browser.openPage(link.url);
    await page.getByLabel('Card number').pressSequentially('4242424242424242');
    expect(await page.getByLabel('Card number').inputValue()).toBe('4242 4242 4242 4242');
    await page.getByLabel('Expiry date').pressSequentially('440');
    expect(await page.getByLabel('Expiry date').inputValue()).toBe('04 / 40');
    let sent = 0;
    page.on('request', (request) => { if (request.method() === 'POST') sent += 1; });
    await payButton(page).click();
    const problem = page.getByRole('alert');
    await problem.getByText('Enter your e-mail address.').waitFor();
    await shoot(page, 'desktop-missing');
    expect(sent).toBe(0);
    expect(await page.getByLabel('Card number').inputValue()).toBe('4242 4242 4242 4242');
    await problem.getByText('Enter the security code.').click();
    expect(await page.getByLabel('Security code').evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.context().close();
  });

  it('can be filled in and sent with the keyboard alone', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const page = await browser.openPage(link.url);
    await page.getByLabel('E-mail').focus();
    for (const text of ['ada@example.com', 'Ada Lovelace', '4242424242424242', '1240', '123']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(thanks);
    await page.context().close();
  });

  it('a double click pays once', async () => {
    const link = await newLink(shop);
    const page = await browser.openPage(link.url, { ...desktop, javaScriptEnabled: false });
    await typePayer(page);
    await typeCard(page, '4242424242424242');
    await payButton(page).dblclick();
    await page.getByText('Payment complete').first().waitFor();
    await shoot(page, 'desktop-paid');
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
    await page.context().close();
  });

  it('goes to the bank and comes back', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const page = await browser.openPage(link.url);
    await typePayer(page);
    await typeCard(page, '4000002760003184');
    await payButton(page).click();
    await page.getByRole('button', { name: 'Yes, pay' }).click();
    await page.waitForURL(thanks);
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
    await page.context().close();
  });

  it('waits for a slow outcome and moves on by itself', async () => {
    const link = await newLink(shop, { success_url: thanks, custom_fields: { simulate: 'pending_then_approved' } });
    const page = await browser.openPage(link.url);
    await typePayer(page);
    await typeCard(page, '4242424242424242');
    await payButton(page).click();
    await page.getByText('Do not pay again').waitFor();
    await shoot(page, 'desktop-waiting');
    await page.waitForURL(thanks, { timeout: 60_000 });
    await eventually(async () => (await moneyOf(shop, link.id)).length === 1);
    await page.context().close();
  });

  it('looks right in the dark and when it is closed', async () => {
    const link = await newLink(shop);
    const page = await browser.openPage(link.url, { ...phone, colorScheme: 'dark' });
    await shoot(page, 'phone-dark');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(16, 22, 20)');
    await shop.admin.put(`/payment-link/${link.id}`, { active: false });
    await page.reload();
    await page.getByText('This link is not active').waitFor();
    await shoot(page, 'phone-dark-inactive');
    await page.context().close();
  });

  it('found nothing to complain about', () => {
    expect(browser.complaints).toEqual([]);
  });
});
