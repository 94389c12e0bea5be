import { jest } from '@jest/globals';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { finaliseInvoice } from '../../libs/payments/collect-invoice.js';
import { uuidOf } from '../../libs/views/ids.js';
import { freshAccount } from '../support/account.js';
import { untilListed } from '../support/events.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { cardOf, made } from '../payments/shop.js';
import { charged, invoice, moneyOf, one, openTill, sent, told, type Till } from './till.js';

jest.setTimeout(180_000);

let stack: PrivateStack;
let database: Database;
let till: Till;

beforeAll(async () => {
  stack = await startStack();
  database = connect(stack.databaseUrl, { max: 2 });
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  till = await openTill({ account, simulatorUrl: stack.simulator.url });
}, 180_000);

afterAll(async () => {
  await database?.close();
  await stack?.stop();
}, 180_000);

const read = async (id: string) => (await till.admin.get(`/invoices/${id}`)).body;

it('an invoice whose process dies between its finalising and its charge is charged once', async () => {
  const draft = await invoice(till);
  const change = { accountId: till.id, environment: 'staging' as const, actor: 'system', requestId: null, idempotencyKey: null, commandId: newId(), clockTime: null };
  const intent = await transact(database.db, change, (tx) => finaliseInvoice(tx, change, { invoiceId: uuidOf(draft.id), now: new Date() }));
  expect(intent).toMatchObject({ status: 'processing', settled: false });
  await eventually(async () => (await read(draft.id)).status === 'paid', { timeoutMs: 90_000 });
  expect(await moneyOf(till, draft.id)).toHaveLength(1);
});

it('an invoice whose process is killed during its charge is made and paid once, also when it is asked for again', async () => {
  const wish = { customer_id: till.customer, ...one(till.desk), ...charged, custom_fields: { simulate: 'delay_5s' } };
  const lost = till.admin.post('/invoices/', wish, { key: 'killed' }).catch(() => null);
  const begun = await eventually(async () => (await till.admin.post('/invoices/list', { status: 'open' })).body.data[0]);
  await stack.api.kill9();
  expect(await lost).toBeNull();
  await stack.api.restart();
  const again = await till.admin.post('/invoices/', wish, { key: 'killed' });
  expect([200, 409]).toContain(again.status);
  await eventually(async () => (await read(begun.id)).status === 'paid', { timeoutMs: 90_000 });
  expect((await till.admin.post('/invoices/list', { total_amount_atom: { gte: 1 } })).body.total_objects).toBe(2);
  expect(await moneyOf(till, begun.id)).toHaveLength(1);
  const types = await told(till, begun.id);
  expect(types.filter((type) => type === 'invoice.finalized' || type === 'invoice.paid')).toEqual(['invoice.finalized', 'invoice.paid']);
  expect((await invoice(till, sent)).invoice_number).toBe(begun.invoice_number + 1);
});

it('a card that a payer asked to keep is kept once where the API is killed during the payment; a card that is declined is not', async () => {
  const { body: desk } = await till.admin.get(`/prices/${till.desk}`);
  const price = { product_id: desk.product_id, price_type: 'recurring', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 990, is_active: true, billing_interval: 'month' };
  const declined = await cardOf(till, '4000000000000341');
  const bought = { customer_id: till.customer, payment_method_id: declined, ...one(await made(till.admin.post('/prices/', price))) };
  const { body } = await till.admin.post('/subscriptions/', bought);
  const [{ id: subscription }] = body.created;
  const [{ id, hosted_invoice_url: page }] = body.invoices;
  const methodOf = async () => (await till.admin.get(`/subscriptions/${subscription}`)).body.default_payment_method_id;
  const wishes = async () => (await database.pool.query('select 1 from payment_link_attempts where keeps_method_id is not null')).rowCount;
  const submit = (attempt: number, number: string) =>
    fetch(page, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ try: String(attempt), number, expiry: '12 / 40', cvc: '123', keep: '1' }) }).catch(() => null);
  expect((await submit(0, '4000000000009995'))?.status).toBe(402);
  await eventually(async () => (await wishes()) === 0);
  expect(await methodOf()).toBe(declined);
  for (const connection of [till.a, till.b]) await till.admin.put(`/payment-processors/${connection}`, { settings: { outcome: 'delay_5s' } });
  const lost = submit(1, '4242424242424242');
  await eventually(async () => (await till.admin.get(`/invoices/${id}`)).body.status === 'past_due' && (await wishes()) === 1);
  await stack.api.kill9();
  expect(await lost).toBeNull();
  await stack.api.restart();
  const kept = await eventually(async () => ((await methodOf()) === declined ? null : methodOf()), { timeoutMs: 90_000 });
  await eventually(async () => (await wishes()) === 0);
  const { body: paid } = await till.admin.get(`/invoices/${id}`);
  const { body: intent } = await till.admin.get(`/payment-intents/${paid.latest_payment_intent_id}`);
  expect([paid.status, intent.payment_method_id, (await moneyOf(till, subscription)).length]).toEqual(['paid', kept, 1]);
  await untilListed(till.admin);
  const { body: events } = await till.admin.get(`/events?object_id=${subscription}&limit=100`);
  const changes = (events.data as { data_previous: object | null }[]).filter(({ data_previous: previous }) => previous && 'default_payment_method_id' in previous);
  expect(changes).toHaveLength(1);
});
