import { freshAccount, type Answer, type Client, type TestAccount } from '../support/account.js';
import { untilListed } from '../support/events.js';
import { eventually, shared } from '../support/stack.js';

/** An account that can take payments: a customer, two connections A and B, a route. */
export interface Shop extends TestAccount {
  customer: string;
  /** Public ids of the connections. */
  a: string;
  b: string;
  route: string;
  simulatorUrl: string;
}

export interface ShopOptions {
  account?: TestAccount;
  simulatorUrl?: string;
  settings?: { a?: object; b?: object };
  /** `then` of the route's default, without its processors. */
  fallback?: { on: string[]; max_attempts: number };
}

export const anyCard = '4242424242424242';

export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const account = options.account ?? (await freshAccount());
  const { admin } = account;
  const a = await made(admin.post('/payment-processors/', { name: 'A', kind: 'simulator', settings: options.settings?.a ?? {} }));
  const b = await made(admin.post('/payment-processors/', { name: 'B', kind: 'simulator', settings: options.settings?.b ?? {} }));
  const route = await made(
    admin.post('/payment-routes/', {
      name: 'main',
      route_configuration: {
        rules: [],
        default: { strategy: 'priority', processors: [a, b], ...(options.fallback ? { fallback: options.fallback } : {}) },
      },
    }),
  );
  const customer = await made(admin.post('/customers/', { email: 'buyer@example.com', first_name: 'Ada', last_name: 'B' }));
  return { ...account, customer, a, b, route, simulatorUrl: options.simulatorUrl ?? shared.simulatorUrl };
}

export async function made(answer: Promise<Answer>): Promise<string> {
  const { status, body, text } = await answer;
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${text}`);
  return body.id as string;
}

/** A card of the customer's. */
export async function cardOf(shop: Shop, number = anyCard): Promise<string> {
  const id = await made(shop.admin.post('/payment-methods/', { card: { number, exp_month: 12, exp_year: 2040, cvc: '123' } }));
  const attached = await shop.admin.post(`/payment-methods/${id}/attach`, { customer_id: shop.customer });
  if (attached.status !== 200) throw new Error(attached.text);
  return id;
}

export interface Wish {
  amount?: number;
  simulate?: string | Record<string, string>;
  method?: string;
  key?: string;
  client?: Client;
  extra?: object;
}

/** Creates and confirms in one request. */
export async function pay(shop: Shop, wish: Wish = {}): Promise<Answer> {
  const body = {
    amount_atom: wish.amount ?? 1_000,
    currency: 'eur',
    customer_id: shop.customer,
    payment_method_id: wish.method ?? (await cardOf(shop)),
    confirm: true,
    ...(wish.simulate ? { custom_fields: { simulate: wish.simulate } } : {}),
    ...wish.extra,
  };
  return (wish.client ?? shop.admin).post('/payment-intents/', body, wish.key ? { key: wish.key } : {});
}

export async function intentOf(shop: Shop, id: string): Promise<Answer['body']> {
  return (await shop.admin.get(`/payment-intents/${id}`)).body;
}

export async function chargesOf(shop: Shop, intentId: string): Promise<Answer['body'][]> {
  return (await shop.admin.post('/charges/list', { payment_intent_id: intentId })).body.data;
}

/** Types of the events of one object, in order. */
export async function eventTypes(shop: Shop, objectId: string): Promise<string[]> {
  await untilListed(shop.admin);
  const { body } = await shop.admin.get(`/events?object_id=${objectId}&limit=100`);
  return (body.data as { type: string; sequence: number }[]).sort((x, y) => x.sequence - y.sequence).map((event) => event.type);
}

/** Waits until the intent has one of the statuses. */
export async function settled(shop: Shop, id: string, ...statuses: string[]): Promise<Answer['body']> {
  return eventually(
    async () => {
      const intent = await intentOf(shop, id);
      return statuses.includes(intent.status) ? intent : null;
    },
    { timeoutMs: 60_000 },
  );
}

export interface LedgerPayment {
  id: string;
  connection: string;
  reference: string;
  status: string;
  amount: number;
  amount_captured: number;
  amount_refunded: number;
}

/** What the provider itself holds of an intent, over all attempts. */
export async function ledgerOf(shop: Shop, intentId: string): Promise<LedgerPayment[]> {
  const charges = await chargesOf(shop, intentId);
  const found = new Map<string, LedgerPayment>();
  for (const attempt of charges.map((charge) => charge.attempt_number as number)) {
    const response = await fetch(`${shop.simulatorUrl}/ledger?reference=${encodeURIComponent(`${intentId}-${attempt}`)}`);
    const { payments } = (await response.json()) as { payments: LedgerPayment[] };
    for (const payment of payments) found.set(payment.id, payment);
  }
  return [...found.values()];
}

/** Payments at the provider that took money and kept it. */
export async function moneyTaken(shop: Shop, intentId: string): Promise<LedgerPayment[]> {
  return (await ledgerOf(shop, intentId)).filter((payment) => payment.amount_captured > payment.amount_refunded);
}
