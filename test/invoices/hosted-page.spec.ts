import { jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { made } from '../payments/shop.js';
import { launchBrowser, phone, shoot, typeCard, type TestBrowser } from '../support/browser.js';
import { eventually } from '../support/stack.js';
import { anotherCustomer, credit, invoice, moneyOf, openTill, sent, told, type Till } from './till.js';

jest.setTimeout(180_000);

let till: Till;
let browser: TestBrowser;

beforeAll(async () => {
  till = await openTill();
  browser = await launchBrowser();
}, 180_000);

afterAll(() => browser?.close());

async function payWith(page: Page, number: string): Promise<void> {
  await typeCard(page, number);
  await page.getByRole('button', { name: /^Pay/ }).click();
}

const statusOf = async (id: string) => (await till.admin.get(`/invoices/${id}`)).body.status as string;
const card = { number: '4242424242424242', expiry: '12 / 40', cvc: '123' };

function submit(url: string, fields: Record<string, string>): Promise<Response> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return fetch(url, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams({ ...card, ...fields }).toString() });
}

it('shows what is billed; a declined card and then another pay it once', async () => {
  const customer = await anotherCustomer(till);
  await credit(till, customer, 500);
  const lines = { selected_product_price_quantity: [{ price_id: till.desk, quantity: 2 }, { price_id: till.lamp, quantity: 1 }] };
  const open = await invoice(till, { ...sent, ...lines, customer_id: customer, description: 'As agreed on Monday' });
  const page = await browser.openPage(open.hosted_invoice_url);
  for (const shown of ['Desk', 'Lamp', 'Quantity 2', 'As agreed on Monday', 'Grace H', '€28.00', '-€5.00', 'Pay €23.00']) await page.getByText(shown).first().waitFor();
  await shoot(page, 'invoice-open');
  await payWith(page, '4000000000000341');
  const problem = page.getByRole('alert');
  await problem.getByText('Your card was declined').waitFor();
  await shoot(page, 'invoice-declined');
  expect(await problem.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  expect(await statusOf(open.id)).toBe('past_due');
  await payWith(page, '4242424242424242');
  await page.getByText('This invoice is paid').waitFor();
  await shoot(page, 'invoice-paid');
  expect((await till.admin.get(`/invoices/${open.id}`)).body).toMatchObject({ status: 'paid', paid_amount_atom: 2_300, applied_balance_amount_atom: 500 });
  expect(await moneyOf(till, open.id)).toMatchObject([{ amount_captured: 2_300 }]);
  expect(await told(till, open.id)).toEqual(expect.arrayContaining(['invoice.past_due', 'invoice.paid']));
  await page.context().close();
});

it('on a phone without JavaScript: goes to the bank and comes back; nothing is wider than the screen', async () => {
  const open = await invoice(till, sent);
  const page = await browser.openPage(open.hosted_invoice_url, { ...phone, javaScriptEnabled: false });
  await shoot(page, 'invoice-phone');
  const wide = await page.locator('html').boundingBox();
  expect(wide!.width).toBeLessThanOrEqual(375);
  await payWith(page, '4000002760003184');
  await page.getByRole('button', { name: 'Yes, pay' }).waitFor();
  const other = await browser.openPage(open.hosted_invoice_url, phone);
  await other.getByText('Continue to your bank').waitFor();
  await shoot(other, 'invoice-challenge');
  await other.context().close();
  await page.getByRole('button', { name: 'Yes, pay' }).click();
  await page.getByText('This invoice is paid').waitFor();
  expect(await moneyOf(till, open.id)).toHaveLength(1);
  await page.context().close();
});

it('gives a subscription whose payment failed a new card, if its customer says so', async () => {
  const { body: desk } = await till.admin.get(`/prices/${till.desk}`);
  const monthly = await made(till.admin.post('/prices/', {
    product_id: desk.product_id, price_type: 'recurring', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 990, is_active: true, billing_interval: 'month',
  }));
  const bad = await made(till.admin.post('/payment-methods/', { card: { number: '4000000000000341', exp_month: 12, exp_year: 2040, cvc: '123' } }));
  await till.admin.post(`/payment-methods/${bad}/attach`, { customer_id: till.customer });
  const { body } = await till.admin.post('/subscriptions/', { customer_id: till.customer, payment_method_id: bad, selected_product_price_quantity: [{ price_id: monthly, quantity: 1 }] });
  expect([body.created[0].billing_status, body.invoices[0].status]).toEqual(['incomplete', 'past_due']);
  const page = await browser.openPage(body.invoices[0].hosted_invoice_url, phone);
  await page.getByText('This invoice is overdue').waitFor();
  await page.getByLabel(/Use this card for my subscription/).check();
  await shoot(page, 'invoice-subscription');
  await payWith(page, '4242424242424242');
  await page.getByText('This invoice is paid').waitFor();
  await eventually(async () => (await till.admin.get(`/subscriptions/${body.created[0].id}`)).body.billing_status === 'current');
  const { body: after } = await till.admin.get(`/subscriptions/${body.created[0].id}`);
  expect(after).toMatchObject({ status: 'active', billing_status: 'current' });
  const { body: intent } = await till.admin.get(`/payment-intents/${(await till.admin.get(`/invoices/${body.invoices[0].id}`)).body.latest_payment_intent_id}`);
  expect([after.default_payment_method_id, intent.payment_method_id]).toEqual([intent.payment_method_id, expect.not.stringMatching(bad)]);
  await page.context().close();
});

it('pays once however often it is sent, and takes nothing for what is closed', async () => {
  const open = await invoice(till, sent);
  const answers = await Promise.all([1, 2, 3].map(() => submit(open.hosted_invoice_url, { try: '0' })));
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
  await eventually(async () => (await statusOf(open.id)) === 'paid');
  expect((await submit(open.hosted_invoice_url, { try: '1' })).status).toBe(303);
  expect(await moneyOf(till, open.id)).toHaveLength(1);
  const gone = await invoice(till, sent);
  await till.admin.post(`/invoices/${gone.id}/void`);
  expect(await (await fetch(gone.hosted_invoice_url)).text()).toContain('This invoice was cancelled');
  const unknown = await fetch(gone.hosted_invoice_url.replace(/.$/, '_'));
  expect([unknown.status, (await unknown.text()).includes('no such invoice')]).toEqual([404, true]);
  expect(unknown.headers.get('content-security-policy')).toContain("default-src 'none'");
});

it('says what is wrong with the form, holds back card testers, and the browser found nothing to complain about', async () => {
  const open = await invoice(till, sent);
  const wrong = await submit(open.hosted_invoice_url, { try: '0', number: '4242424242424241', cvc: '' });
  expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('Check it for a typing mistake')]);
  const real = await submit(open.hosted_invoice_url, { try: '0', number: '4111111111111111' });
  expect([real.status, await real.text()]).toEqual([422, expect.stringContaining('use a test card')]);
  let last = 402;
  for (let attempt = 0; last === 402 && attempt < 12; attempt += 1) {
    const answer = await submit(open.hosted_invoice_url, { try: String(attempt), number: '4000000000000341' });
    last = answer.status;
    if (last === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(last).toBe(429);
  expect(await moneyOf(till, open.id)).toEqual([]);
  expect(browser.complaints).toEqual([]);
});
