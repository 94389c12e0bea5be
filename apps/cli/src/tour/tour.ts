import { createHmac, timingSafeEqual } from 'node:crypto';
import { startReceiver, type Received, type Receiver } from './receiver.js';
import { TourFailed, Traveller, type Json } from './traveller.js';

export interface TourOptions {
  /** Base URL of the staging API, without a trailing slash. */
  base: string;
  /** An ADMIN token of staging. */
  token: string;
  print: (line: string) => void;
}

const goodCard = { number: '4242424242424242', exp_month: 12, exp_year: new Date().getUTCFullYear() + 3, cvc: '123' };
const refusedCard = { ...goodCard, number: '4000000000000002' };
const declinedLaterCard = { ...goodCard, number: '4000000000000341' };

/** Walks the whole journey against a running service. Returns the number of calls; throws `TourFailed` at the first surprise. */
export async function tour({ base, token, print }: TourOptions): Promise<number> {
  const traveller = new Traveller(base, token, print);
  const receiver = await startReceiver();
  let endpoint: Json | undefined;
  try {
    endpoint = await subscribeReceiver(traveller, receiver);
    const customer = await customers(traveller);
    const route = await connectionsAndRoute(traveller);
    const method = await paymentMethods(traveller, customer);
    const intent = await payments(traveller, { customer, method, route });
    await subscriptions(traveller, { customer, method, route });
    const link = await paymentLink(traveller, base, route);
    await refunds(traveller, intent);
    await roles(traveller);
    await eventsAndWebhooks(traveller, receiver, { endpoint, intent, link });
  } finally {
    if (endpoint) await traveller.call('DELETE', `/webhook-endpoints/${endpoint.id}`, { expect: [200, 204] }).catch(() => undefined);
    await receiver.close();
  }
  return traveller.count;
}

async function subscribeReceiver(traveller: Traveller, receiver: Receiver): Promise<Json> {
  traveller.chapter('A receiver for everything that happens');
  return traveller.call('POST', '/webhook-endpoints/', { body: { url: receiver.url, description: 'tour' }, expect: 201 });
}

async function customers(traveller: Traveller): Promise<Json> {
  traveller.chapter('A customer');
  const email = `ada.${Date.now()}@example.com`;
  const body = { email, first_name: 'Ada', last_name: 'Lovelace', line1: '12 St James\'s Square', city: 'London', zip_code: 'SW1Y 4JH', country: 'GB' };
  const created = await traveller.call('POST', '/customers/', { body, expect: 201 });
  await traveller.call('PUT', `/customers/${created.id}`, { body: { notes: 'Prefers e-mail.' }, expect: 201 });
  const read = await traveller.call('GET', `/customers/${created.id}`, { expect: 200 });
  traveller.check(read.notes === 'Prefers e-mail.' && read.first_name === 'Ada', 'a partial update keeps the rest');
  const list = await traveller.call('POST', '/customers/list', { body: { email }, expect: 200 });
  traveller.check(list.total_objects === 1, 'the list finds the customer by e-mail');
  return read;
}

async function connectionsAndRoute(traveller: Traveller): Promise<Json> {
  traveller.chapter('Two connections and a route that falls back');
  const first = await traveller.call('POST', '/payment-processors/', { body: { name: 'Simulator A', kind: 'simulator' }, expect: 201 });
  const second = await traveller.call('POST', '/payment-processors/', { body: { name: 'Simulator B', kind: 'simulator' }, expect: 201 });
  const then = { strategy: 'priority', processors: [first.id, second.id], fallback: { on: ['soft_decline', 'processor_error', 'not_sent'], max_attempts: 2 } };
  const large = { name: 'large euro cards', when: { all: [{ field: 'currency', in: ['eur'] }, { field: 'amount_atom', gte: 50_000 }] } };
  const body = {
    name: 'Tour',
    route_configuration: { rules: [{ ...large, then: { ...then, processors: [second.id, first.id] } }], default: then },
  };
  const route = await traveller.call('POST', '/payment-routes/', { body, expect: 201 });
  return { ...route, first, second };
}

async function paymentMethods(traveller: Traveller, customer: Json): Promise<Json> {
  traveller.chapter('A payment method: tokenised, authorised, attached');
  const refused = await traveller.call('POST', '/payment-methods/', { body: { card: refusedCard }, expect: 402 });
  traveller.check(refused.code === 'do_not_honor', 'a refused authorisation creates nothing and names the decline');
  const method = await traveller.call('POST', '/payment-methods/', { body: { card: goodCard }, expect: 201 });
  const attached = await traveller.call('POST', `/payment-methods/${method.id}/attach`, { body: { customer_id: customer.id }, expect: 200 });
  traveller.check(attached.status === 'attached', 'the method is attached');
  await traveller.call('POST', `/payment-methods/${method.id}/attach`, { body: { customer_id: customer.id }, expect: 409 });
  const other = await traveller.call('POST', '/payment-methods/', { body: { card: goodCard }, expect: 201 });
  await traveller.call('POST', `/payment-methods/${other.id}/attach`, { body: { customer_id: customer.id }, expect: 200 });
  const detached = await traveller.call('POST', `/payment-methods/${other.id}/detach`, { expect: 200 });
  traveller.check(detached.status === 'detached', 'another one is detached for good');
  return attached;
}

interface Cast {
  customer: Json;
  method: Json;
  route: Json;
}

async function payments(traveller: Traveller, { customer, method, route }: Cast): Promise<Json> {
  traveller.chapter('Payments through the route');
  const body = { amount_atom: 4900, currency: 'usd', customer_id: customer.id, payment_method_id: method.id, payment_route_id: route.id, confirm: true };
  const key = `tour-${Date.now()}`;
  const intent = await traveller.call('POST', '/payment-intents/', { body, key, expect: 201 });
  const again = await traveller.call('POST', '/payment-intents/', { body, key, expect: 201 });
  traveller.check(again.id === intent.id && intent.status === 'succeeded', 'the same idempotency key pays once and answers the same');
  const simulated = { ...body, custom_fields: { simulate: { [route.first.id]: 'do_not_honor' } } };
  const fallback = await traveller.call('POST', '/payment-intents/', { body: simulated, expect: 201 });
  const decisions = await traveller.call('GET', `/payment-intents/${fallback.id}/decisions`, { expect: 200 });
  traveller.check(fallback.status === 'succeeded' && fallback.charge_ids.length === 2, 'Simulator A declined softly, Simulator B took it');
  const list = (Array.isArray(decisions) ? decisions : decisions.data) as Json[];
  for (const decision of list) traveller.note(`${decision.processor_id}: ${decision.outcome_class} — ${decision.reason}`);
  return intent;
}

async function subscriptions(traveller: Traveller, { customer, method, route }: Cast): Promise<void> {
  traveller.chapter('A subscription');
  const product = await traveller.call('POST', '/products/', { body: { name: 'Signal', description: 'A lamp a month' }, expect: 201 });
  const price = await traveller.call('POST', '/prices/', {
    body: {
      product_id: product.id, price_type: 'recurring', pricing_model: 'standard', currency: 'usd', unit_amount_atom: 1900,
      billing_interval: 'month', billing_interval_count: 1, is_active: true,
    },
    expect: 201,
  });
  const body = {
    customer_id: customer.id, payment_method_id: method.id, payment_route_id: route.id, trial_period_days: 0,
    selected_product_price_quantity: [{ price_id: price.id, quantity: 1 }],
  };
  const preview = await traveller.call('POST', '/subscriptions/', { body: { ...body, is_preview: true }, expect: 200 });
  traveller.check(preview.invoices[0].total_amount_atom === 1900, 'the preview says what will be charged');
  const created = await traveller.call('POST', '/subscriptions/', { body, expect: [200, 201] });
  const id = created.created[0].id as string;
  await traveller.until(`/subscriptions/${id}`, (subscription) => subscription.status === 'active', 'the subscription becoming active');
  const paused = await traveller.call('PUT', `/subscriptions/${id}/pause`, { body: {}, expect: 200 });
  traveller.check(paused.status === 'paused', 'paused, the remaining time is kept');
  const resumed = await traveller.call('PUT', `/subscriptions/${id}/resume`, { body: {}, expect: 200 });
  traveller.check(resumed.subscription.status === 'active', 'resumed');
  await traveller.call('PUT', `/subscriptions/${id}`, { body: { cancel_at_end: true }, expect: 200 });
  await traveller.call('PUT', `/subscriptions/${id}`, { body: { cancel_at_end: false }, expect: 200 });
  const cancelled = await traveller.call('DELETE', `/subscriptions/${id}`, { body: {}, expect: 200 });
  traveller.check(cancelled.subscription.status === 'cancelled', 'cancelled');
  await traveller.call('PUT', `/subscriptions/${id}/pause`, { body: {}, expect: 409 });

  traveller.note('One with a trial, and one whose first payment is declined:');
  const trial = await traveller.call('POST', '/subscriptions/', { body: { ...body, trial_period_days: 14 }, expect: [200, 201] });
  traveller.check(trial.created[0].status === 'trialing', 'a trial of 14 days is trialing');
  const other = await traveller.call('POST', '/customers/', { body: { email: `charles.${Date.now()}@example.com` }, expect: 201 });
  const weak = await traveller.call('POST', '/payment-methods/', { body: { card: declinedLaterCard }, expect: 201 });
  await traveller.call('POST', `/payment-methods/${weak.id}/attach`, { body: { customer_id: other.id }, expect: 200 });
  const wish = { ...body, customer_id: other.id, payment_method_id: weak.id };
  const declined = await traveller.call('POST', '/subscriptions/', { body: wish, expect: [200, 201] });
  traveller.check(declined.created[0].billing_status === 'incomplete', 'a decline leaves it incomplete, with nothing lost');
}

async function paymentLink(traveller: Traveller, base: string, route: Json): Promise<Json> {
  traveller.chapter('A payment link, paid the way a browser does it');
  const product = await traveller.call('POST', '/products/', { body: { name: 'Lantern', description: 'Brass, one candle' }, expect: 201 });
  const price = await traveller.call('POST', '/prices/', {
    body: { product_id: product.id, price_type: 'one_time', pricing_model: 'standard', currency: 'usd', unit_amount_atom: 2500, is_active: true },
    expect: 201,
  });
  const link = await traveller.call('POST', '/payment-link/', {
    body: { mode: 'payment', success_url: null, payment_route_id: route.id, line_items: [{ price_id: price.id, quantity: 2 }] },
    expect: 201,
  });
  const opened = await fetch(link.url);
  const page = { markup: await opened.text(), cookies: opened.headers.getSetCookie() };
  const form = new URLSearchParams();
  for (const [, name, value] of page.markup.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)) form.set(name!, value!);
  const typed = { email: `link.${Date.now()}@example.com`, name: 'Grace Hopper', number: '4242 4242 4242 4242', expiry: `12/${String(goodCard.exp_year).slice(2)}`, cvc: '123' };
  for (const [name, value] of Object.entries(typed)) form.set(name, value);
  const answer = await fetch(new URL(new URL(link.url).pathname, base), { method: 'POST', body: form, redirect: 'manual' });
  traveller.note(`POST ${new URL(link.url).pathname} → ${answer.status} ${answer.headers.get('location') ?? ''}`);
  traveller.check(answer.status === 303, 'the page takes the card and goes on to the success page');
  const cookie = [...answer.headers.getSetCookie(), ...page.cookies].map((line) => line.split(';')[0]).join('; ');
  const success = await fetch(new URL(answer.headers.get('location')!, link.url), { headers: { cookie } });
  traveller.check(success.status === 200 && (await success.text()).includes('Payment complete'), 'the success page says that the payment is complete');
  const { data: intents } = await traveller.call('POST', '/payment-intents/list', { body: { page_size: 5, sort_descending: true }, expect: 200 });
  const paid = (intents as Json[]).find((intent) => intent.payment_link_id === link.id);
  traveller.check(paid?.status === 'succeeded' && paid.amount_atom === 5000, 'the payment is an intent like any other');
  return link;
}

async function refunds(traveller: Traveller, intent: Json): Promise<void> {
  traveller.chapter('Refunds: a part, then the rest, never more');
  await traveller.call('POST', '/refunds/', { body: { payment_intent_id: intent.id, amount_atom: 1000, reason: 'requested_by_customer' }, expect: 201 });
  const rest = await traveller.call('POST', '/refunds/', { body: { payment_intent_id: intent.id }, expect: 201 });
  traveller.check(rest.amount_atom === 3900 && rest.status === 'succeeded', 'the second refund is what was left');
  const over = await traveller.call('POST', '/refunds/', { body: { payment_intent_id: intent.id, amount_atom: 1 }, expect: 422 });
  traveller.check(over.code === 'refund_exceeds_captured', 'more than was captured is refused');
}

async function roles(traveller: Traveller): Promise<void> {
  traveller.chapter('Tokens and roles');
  const reader = await traveller.call('POST', '/api-tokens/', { body: { name: 'tour reader', role: 'READ_ONLY' }, expect: 201 });
  await traveller.call('POST', '/customers/', { body: { email: 'x@example.com' }, token: reader.token, expect: 403 });
  await traveller.call('DELETE', `/api-tokens/${reader.id}`, { expect: 204 });
}

interface Told {
  endpoint: Json;
  intent: Json;
  link: Json;
}

async function eventsAndWebhooks(traveller: Traveller, receiver: Receiver, { endpoint, intent }: Told): Promise<void> {
  traveller.chapter('Events, and the webhooks that carried them');
  const list = await traveller.call('POST', '/events/list', {
    body: { types: ['payment_intent.succeeded', 'charge.failed', 'charge.refunded'], sort_descending: true },
    expect: 200,
  });
  const types = new Set((list.data as Json[]).map((event) => event.type as string));
  traveller.check(types.size === 3, 'success, failure and refund are logged as events');
  const success = (list.data as Json[]).find((event) => event.type === 'payment_intent.succeeded' && event.data.id === intent.id);
  traveller.check(success !== undefined, 'the payment of this tour is among them');
  await traveller.call('GET', `/events/${success!.id}`, { expect: 200 });

  const revealed = await traveller.call('GET', `/webhook-endpoints/${endpoint.id}/reveal_secret`, { expect: 200 });
  const arrived = await waitFor(() => receiver.received.find(({ body }) => body.includes(success!.id as string)));
  traveller.check(arrived !== undefined, 'that event arrived at the receiver');
  traveller.check(digestIsValid(arrived!, revealed.secret as string), 'its signature-digest verifies over the bytes of `data`');
  await traveller.call('POST', `/webhook-endpoints/${endpoint.id}/rotate_secret`, { body: { expire_after_seconds: 3600 }, expect: [200, 201] });
  await traveller.call('POST', `/webhook-endpoints/${endpoint.id}/test`, { expect: [200, 201, 202] });
  const test = await waitFor(() => receiver.received.find(({ body }) => body.includes('"type":"webhook_endpoint.test"')));
  const signatures = String(test?.headers['signature-digest']).split(',').filter((part) => part.startsWith('v1='));
  traveller.check(signatures.length === 2 && digestIsValid(test!, revealed.secret as string), 'after a rotation both secrets sign');
  traveller.note(`${receiver.received.length} deliveries arrived in all`);
}

/** The check that a receiver makes: HMAC-SHA256 over `<t>.<raw bytes of data>`, constant-time, any signature may match. */
function digestIsValid({ headers, body }: Received, secret: string): boolean {
  const parts = String(headers['signature-digest']).split(',').map((part) => part.split('=', 2) as [string, string]);
  const t = parts.find(([name]) => name === 't')?.[1];
  const data = body.slice(body.indexOf(',"data":') + ',"data":'.length, -1);
  const expected = createHmac('sha256', secret).update(`${t}.${data}`).digest();
  return parts.some(([name, hex]) => name === 'v1' && hex.length === 64 && timingSafeEqual(Buffer.from(hex, 'hex'), expected));
}

async function waitFor<T>(look: () => T | undefined): Promise<T | undefined> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const found = look();
    if (found !== undefined || Date.now() > deadline) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export { TourFailed };
