import { readFileSync } from 'node:fs';
import { freshAccount, type TestAccount } from '../support/account.js';
import { readOperations } from '../support/operation.js';
import { buildWorld, type World } from '../support/world.js';

type Shape = string | Record<string, string>;
interface Published {
  operations: Record<string, { status: number; shape?: string }>;
  shapes: Record<string, Shape>;
}

const published = JSON.parse(readFileSync(new URL('./published-shapes.json', import.meta.url), 'utf8')) as Published;

/** Where our values go beyond the published enumerations on purpose: the contract says so. */
const widened: Record<string, string[]> = {
  SubscriptionStatusEnum: ['cancelled'],
};
const openEnums = new Set(['EventType']);
/** Required objects that need not exist; a payment without an invoice has none, and an empty invoice would be a lie. */
const absentObjects = new Set(['PaymentIntentExternal.invoice']);

/** What a strict decoder of the published interface would refuse. */
function mismatches(value: unknown, type: string, at: string): string[] {
  const nullable = type.endsWith('?');
  const bare = nullable ? type.slice(0, -1) : type;
  if (value === null) return nullable || bare === 'any' ? [] : [`${at}: null is not ${bare}`];
  if (bare.includes('|')) {
    const results = bare.split('|').map((choice) => mismatches(value, choice, at));
    return results.some((result) => result.length === 0) ? [] : results[0]!;
  }
  if (bare.startsWith('[]')) {
    if (!Array.isArray(value)) return [`${at}: not a list`];
    return value.flatMap((item, index) => mismatches(item, bare.slice(2), `${at}[${index}]`));
  }
  if (bare.startsWith('#')) return mismatchesOfShape(value, bare.slice(1), at);
  if (bare.startsWith('enum:')) return bare.slice(5).split(',').includes(String(value)) ? [] : [`${at}: ${String(value)} is not one of its values`];
  return fits(value, bare) ? [] : [`${at}: ${JSON.stringify(value)?.slice(0, 60)} is not ${bare}`];
}

function mismatchesOfShape(value: unknown, name: string, at: string): string[] {
  const shape = published.shapes[name]!;
  if (openEnums.has(name) || widened[name]?.includes(String(value))) return [];
  if (typeof shape === 'string') return mismatches(value, shape, at);
  if (typeof value !== 'object' || Array.isArray(value)) return [`${at}: not an object`];
  const object = value as Record<string, unknown>;
  return Object.entries(shape).flatMap(([key, type]) => {
    const optional = key.startsWith('~');
    const property = optional ? key.slice(1) : key;
    if (object[property] === undefined) return optional ? [] : [`${at}.${property}: missing`];
    if (object[property] === null && absentObjects.has(`${name}.${property}`)) return [];
    return mismatches(object[property], type, `${at}.${property}`);
  });
}

function fits(value: unknown, type: string): boolean {
  if (type === 'any') return true;
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'time') return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}

let account: TestAccount;
let world: World;
let implemented: Set<string>;
beforeAll(async () => {
  account = await freshAccount();
  implemented = new Set((await readOperations()).map(({ name }) => name.replace(/\{\w+\}/g, '{}')));
  world = await buildWorld(account);
}, 180_000);

const card = { number: '4242424242424242', exp_month: 12, exp_year: 2034, cvc: '123' };
const routeBody = () => ({ name: 'r', route_configuration: { rules: [], default: { strategy: 'priority', processors: [world.processor] } } });
const priceBody = () => ({ product_id: world.product, price_type: 'one_time', pricing_model: 'standard', is_active: true, currency: 'usd', unit_amount_atom: 5 });
const productBody = { name: 'p', description: 'd' };
const subscriptionBody = () => ({ customer_id: world.cus, payment_route_id: world.route, selected_product_price_quantity: [{ price_id: world.monthly, quantity: 1 }] });

async function fresh(path: string, body: unknown): Promise<string> {
  const answer = await account.admin.post(path, body);
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.id ?? answer.body.created[0].id;
}

type Call = () => Promise<[path: string, body?: unknown]>;

const freshItem = async () => (await account.admin.get(`/subscriptions/${await fresh('/subscriptions/', subscriptionBody())}`)).body.subscription_items[0].id;

/** How each published operation is called here, by its published name. */
const calls: Record<string, Call> = {
  'POST /charges/list': async () => ['/charges/list', {}],
  'GET /charges/{charge_id}': async () => [`/charges/${world.ch}`],
  'PUT /charges/{charge_id}': async () => [`/charges/${world.ch}`, { custom_fields: { a: 1 } }],
  'POST /customers': async () => ['/customers/', { email: 'c@example.com' }],
  'POST /customers/list': async () => ['/customers/list', {}],
  'PUT /customers/{customer_external_id}': async () => [`/customers/${world.cus}`, { notes: 'n' }],
  'GET /customers/{customer_id}': async () => [`/customers/${world.cus}?expand=discount`],
  'POST /customers/{customer_id}/payment-methods': async () => [`/customers/${world.cus}/payment-methods`, {}],
  'POST /customers/{customer_id}/list_valid_subscriptions': async () => [`/customers/${world.cus}/list_valid_subscriptions`, {}],
  'GET /customers/{customer_id}/balance-transactions': async () => [`/customers/${world.cus}/balance-transactions`],
  'POST /customers/{customer_id}/balance-transactions': async () => [`/customers/${world.cus}/balance-transactions`, { amount_atom: 100 }],
  'GET /customers/{customer_id}/balance-transactions/{transaction_id}': async () => [
    `/customers/${world.cus}/balance-transactions/${await fresh(`/customers/${world.cus}/balance-transactions`, { amount_atom: 100 })}`,
  ],
  'POST /dispute': async () => ['/dispute/', { payment_intent_id: world.pi, reason: 'fraudulent', their_dispute_id: 'theirs' }],
  'GET /dispute/{dispute_id}': async () => [`/dispute/${world.dp}`],
  'POST /events/list': async () => ['/events/list', {}],
  'POST /events/search': async () => ['/events/search', { object_id: world.cus }],
  'POST /events/trigger-webhook': async () => ['/events/trigger-webhook', { event_id: world.event }],
  'GET /events/{event_id}': async () => [`/events/${world.event}`],
  'POST /invoices/list': async () => ['/invoices/list', {}],
  'POST /invoice-items/list': async () => ['/invoice-items/list', {}],
  'GET /invoices/{invoice_external_id}': async () => [`/invoices/${await firstInvoice()}`],
  'GET /invoices/preview_next_invoice/{subscription_id}': async () => [`/invoices/preview_next_invoice/${world.sub}`],
  'POST /invoices/{invoice_external_id}/pay': async () => [`/invoices/${await openInvoice()}/pay`, { paid_out_of_band: true }],
  'POST /invoices/{invoice_external_id}/void': async () => [`/invoices/${await openInvoice()}/void`, {}],
  'POST /invoices/{invoice_external_id}/mark_uncollectible': async () => [`/invoices/${await openInvoice()}/mark_uncollectible`, {}],
  'POST /invoices': async () => ['/invoices/', invoiceBody()],
  'PUT /invoices/{invoice_id}': async () => [`/invoices/${await byHand()}`, { description: 'd' }],
  'POST /invoices/{invoice_external_id}/finalize': async () => [`/invoices/${await byHand()}/finalize`],
  'POST /invoices/{invoice_external_id}/comment': async () => [`/invoices/${await byHand()}/comment`, { comment: 'c' }],
  'GET /invoices/public/{public_permanent_token}': async () => {
    const { body } = await account.admin.post(`/invoices/${await byHand()}/finalize`);
    return [`/invoices/public/${body.hosted_invoice_url.split('/').at(-1)}`];
  },
  'DELETE /invoice-items/{invoice_item_id}': async () => [`/invoice-items/${await fresh('/invoice-items/', { customer_id: world.cus, price_id: world.price })}`],
  'GET /invoice-items/{invoice_item_id}': async () => [`/invoice-items/${(await account.admin.post('/invoice-items/list', {})).body.data[0].id}`],
  'POST /subscription-items': async () => ['/subscription-items/', { subscription_id: await fresh('/subscriptions/', subscriptionBody()), price_id: world.monthly }],
  'PUT /subscription-items/{subscription_item_id}': async () => [`/subscription-items/${await freshItem()}`, { quantity: 2 }],
  'DELETE /subscription-items/{subscription_item_id}': async () => {
    const id = await fresh('/subscriptions/', subscriptionBody());
    return [`/subscription-items/${await fresh('/subscription-items/', { subscription_id: id, price_id: world.monthly })}`, { drop_at_end: false }];
  },
  'GET /subscription-items/{subscription_item_id}': async () => [
    `/subscription-items/${(await account.admin.get(`/subscriptions/${world.sub}`)).body.subscription_items[0].id}`,
  ],
  'POST /payment-intents/list': async () => ['/payment-intents/list', {}],
  'GET /payment-intents/{payment_intent_id}': async () => [`/payment-intents/${world.pi}`],
  'PUT /payment-intents/{payment_intent_id}': async () => [`/payment-intents/${world.pi}`, { custom_fields: { a: 1 } }],
  'POST /payment-link': async () => ['/payment-link/', { mode: 'payment', success_url: 'https://example.com', line_items: [{ price_id: world.price, quantity: 1 }] }],
  'POST /payment-link/list': async () => ['/payment-link/list', {}],
  'GET /payment-link/{plink_id}': async () => [`/payment-link/${world.plink}`],
  'POST /payment-methods/authorize': async () => ['/payment-methods/authorize', { payment_method_id: world.pm }],
  'GET /payment-methods/{payment_method_id}': async () => [`/payment-methods/${world.pm}`],
  'POST /payment-methods/{payment_method_id}/attach': async () => [`/payment-methods/${await fresh('/payment-methods/', { card })}/attach`, { customer_id: world.cus }],
  'POST /payment-methods/{payment_method_id}/detach': async () => [`/payment-methods/${await fresh('/payment-methods/', { card })}/detach`],
  'POST /payment-routes': async () => ['/payment-routes/', routeBody()],
  'POST /payment-routes/list': async () => ['/payment-routes/list', {}],
  'GET /payment-routes/{payment_route_id}': async () => [`/payment-routes/${world.route}`],
  'PUT /payment-routes/{payment_route_id}': async () => [`/payment-routes/${world.route}`, routeBody()],
  'DELETE /payment-routes/{payment_route_id}': async () => [`/payment-routes/${await fresh('/payment-routes/', routeBody())}`],
  'POST /prices': async () => ['/prices/', priceBody()],
  'GET /prices/find-by-amount/{amount}': async () => ['/prices/find-by-amount/1500'],
  'POST /prices/list': async () => ['/prices/list', {}],
  'DELETE /prices/{price_id}': async () => [`/prices/${await fresh('/prices/', priceBody())}`],
  'GET /prices/{price_id}': async () => [`/prices/${world.monthly}`],
  'PUT /prices/{price_id}': async () => [`/prices/${world.price}`, { name: 'n' }],
  'GET /prices/{price_id}/add-ons': async () => [`/prices/${world.price}/add-ons`],
  'POST /product-family': async () => ['/product-family/', { name: 'f', products: [] }],
  'POST /product-family/list': async () => ['/product-family/list', {}],
  'DELETE /product-family/{id}': async () => [`/product-family/${await fresh('/product-family/', { name: 'f', products: [] })}`],
  'GET /product-family/{id}': async () => [`/product-family/${world.pf}`],
  'PUT /product-family/{id}': async () => [`/product-family/${world.pf}`, { name: 'n', products: [] }],
  'POST /products': async () => ['/products/', productBody],
  'POST /products/list': async () => ['/products/list', {}],
  'DELETE /products/{product_id}': async () => [`/products/${await fresh('/products/', productBody)}`],
  'GET /products/{product_id}': async () => [`/products/${world.product}`],
  'PUT /products/{product_id}': async () => [`/products/${world.product}`, { name: 'n' }],
  'POST /refunds': async () => ['/refunds/', { charge_id: world.ch, amount_atom: 7 }],
  'POST /refunds/list': async () => ['/refunds/list', {}],
  'POST /subscription-items/list': async () => ['/subscription-items/list', { subscription_id: world.sub }],
  'POST /subscriptions': async () => ['/subscriptions/', subscriptionBody()],
  'POST /subscriptions/list': async () => ['/subscriptions/list', {}],
  'GET /subscriptions/{subscription_id}': async () => [`/subscriptions/${world.sub}`],
  'PUT /subscriptions/{subscription_id}': async () => [`/subscriptions/${world.sub}`, { description: 'd' }],
  'PUT /subscriptions/{subscription_id}/pause': async () => [`/subscriptions/${await fresh('/subscriptions/', subscriptionBody())}/pause`, {}],
  'PUT /subscriptions/{subscription_id}/resume': async () => {
    const id = await fresh('/subscriptions/', subscriptionBody());
    await account.admin.put(`/subscriptions/${id}/pause`);
    return [`/subscriptions/${id}/resume`, {}];
  },
  'DELETE /subscriptions/{subscription_id}': async () => [`/subscriptions/${await fresh('/subscriptions/', subscriptionBody())}`],
  'POST /subscriptions/{subscription_id}/refresh-status': async () => [`/subscriptions/${world.sub}/refresh-status`],
  'POST /subscriptions/{subscription_id}/cancel-subscription-trial': async () => [
    `/subscriptions/${await fresh('/subscriptions/', { ...subscriptionBody(), trial_period_days: 5 })}/cancel-subscription-trial`,
  ],
};

function invoiceBody(): object {
  return { customer_id: world.cus, collection_method: 'send_invoice', selected_product_price_quantity: [{ price_id: world.price, quantity: 1 }] };
}

async function byHand(): Promise<string> {
  return (await account.admin.post('/invoices/', invoiceBody())).body.id;
}

async function firstInvoice(): Promise<string> {
  return (await account.admin.post('/invoices/list', {})).body.data[0].id;
}

/** A declined first payment leaves its invoice open. */
async function openInvoice(): Promise<string> {
  const { admin } = account;
  const cus = await fresh('/customers/', { email: 'd@example.com' });
  const pm = await fresh('/payment-methods/', { card: { ...card, number: '4000000000000341' } });
  await admin.post(`/payment-methods/${pm}/attach`, { customer_id: cus });
  const subscribed = await admin.post('/subscriptions/', { ...subscriptionBody(), customer_id: cus, payment_method_id: pm });
  return subscribed.body.invoices[0].id;
}

const names = Object.keys(published.operations);

describe('published operations', () => {
  it.each(names)('%s answers as published', async (name) => {
    if (!implemented.has(name.replace(/\{\w+\}/g, '{}'))) return;
    const call = calls[name];
    if (!call && name.startsWith('GET /payment-link/public')) return;
    if (!call) throw new Error(`${name} is implemented, but this spec does not call it`);
    const [path, body] = await call();
    const answer = await account.admin.send(name.split(' ')[0]!, path, body);
    const { status, shape } = published.operations[name]!;
    expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([status, '']);
    if (shape) expect(mismatches(answer.body, shape, '')).toEqual([]);
  }, 180_000);

  it('are called above wherever they are implemented', () => {
    const known = names.filter((name) => implemented.has(name.replace(/\{\w+\}/g, '{}')));
    expect(known.length).toBeGreaterThan(40);
  });
});
