import { expect } from '@jest/globals';
import { cardOf, eventTypes, made, openShop, type LedgerPayment, type Shop, type ShopOptions } from '../payments/shop.js';
import type { Answer } from '../support/account.js';
import { eventually } from '../support/stack.js';

/** A shop that sells subscriptions. */
export interface Store extends Shop {
  product: string;
  /** Public id of the customer's default payment method. */
  card: string;
}

export async function openStore(options: ShopOptions = {}): Promise<Store> {
  const shop = await openShop(options);
  const product = await made(shop.admin.post('/products/', { name: 'Plan', description: 'A plan' }));
  return { ...shop, product, card: await cardOf(shop) };
}

export async function priceOf(store: Store, terms: object = {}): Promise<string> {
  const body = { product_id: store.product, price_type: 'recurring', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 1_200, billing_interval: 'month', is_active: true, ...terms };
  return made(store.admin.post('/prices/', body));
}

/** Body of a creation. */
export async function wishFor(store: Store, extra: object = {}, terms: object = {}): Promise<Record<string, unknown>> {
  return {
    customer_id: store.customer,
    selected_product_price_quantity: [{ price_id: await priceOf(store, terms), quantity: 1 }],
    payment_method_id: store.card,
    ...extra,
  };
}

/** A created subscription with its answer. */
export async function subscribe(store: Store, extra: object = {}, terms: object = {}): Promise<{ id: string; answer: Answer; sub: Answer['body'] }> {
  const answer = await store.admin.post('/subscriptions/', await wishFor(store, extra, terms));
  if (answer.status !== 200) throw new Error(answer.text);
  const [sub] = answer.body.created;
  return { id: sub.id, answer, sub };
}

export async function subOf(store: Store, id: string): Promise<Answer['body']> {
  return (await store.admin.get(`/subscriptions/${id}`)).body;
}

export async function invoicesOf(store: Store, id: string): Promise<Answer['body'][]> {
  return (await store.admin.post('/invoices/list', { subscription_id: id })).body.data;
}

/** Waits until the subscription looks so. */
export function becomes(store: Store, id: string, shape: object, timeoutMs = 90_000): Promise<Answer['body']> {
  return eventually(
    async () => {
      const sub = await subOf(store, id);
      expect(sub).toMatchObject(shape);
      return sub;
    },
    { timeoutMs },
  );
}

export async function subEvents(store: Store, id: string): Promise<string[]> {
  return (await eventTypes(store, id)).map((type) => type.replace('customer.subscription.', ''));
}

/** What the provider took and kept for one invoice, over all attempts. */
export async function takenFor(store: Store, invoice: Answer['body']): Promise<LedgerPayment[]> {
  return (await heldFor(store, invoice)).filter((payment) => payment.amount_captured > payment.amount_refunded);
}

/** What the provider knows of one invoice, over all attempts. */
export async function heldFor(store: Store, invoice: Answer['body']): Promise<LedgerPayment[]> {
  const intent = (await store.admin.get(`/payment-intents/${invoice.latest_payment_intent_id}`)).body;
  const reference = `${invoice.subscription_id}:${Math.floor(Date.parse(invoice.period_start) / 1000)}`;
  const found = new Map<string, LedgerPayment>();
  for (let attempt = 1; attempt <= intent.charge_ids.length + 1; attempt += 1) {
    const response = await fetch(`${store.simulatorUrl}/ledger?reference=${encodeURIComponent(`${reference}-${attempt}`)}`);
    const { payments } = (await response.json()) as { payments: LedgerPayment[] };
    for (const payment of payments) found.set(payment.id, payment);
  }
  return [...found.values()];
}

/** A daily anchor such that the first period ends in about `seconds`. */
export function anchorEndingIn(seconds: number): string {
  return new Date(Date.now() - 3 * 86_400_000 + seconds * 1000).toISOString();
}
