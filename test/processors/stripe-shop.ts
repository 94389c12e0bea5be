import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { eventually } from '../support/stack.js';
import { made } from '../payments/shop.js';
import type { Thing } from './stripe-fake.book.js';
import { fakeKey, fakeWebhookSecret, type StripeFake } from './stripe-fake.js';

/** An account that sells through one connection to the fake. */
export interface StripeShop extends TestAccount {
  fake: StripeFake;
  processor: string;
  customer: string;
  apiUrl: string;
}

export interface StripeShopOptions {
  account?: TestAccount;
  settings?: object;
}

export async function openStripeShop(fake: StripeFake, { account, settings }: StripeShopOptions = {}): Promise<StripeShop> {
  const owner = account ?? (await freshAccount());
  const { admin } = owner;
  const processor = await made(admin.post('/payment-processors/', {
    name: 'Stripe', kind: 'stripe', credentials: { secret_key: fakeKey, webhook_secret: fakeWebhookSecret }, settings: { api_base: fake.url, ...settings },
  }));
  const configuration = { rules: [], default: { strategy: 'priority', processors: [processor] } };
  await made(admin.post('/payment-routes/', { name: 'main', route_configuration: configuration }));
  const customer = await made(admin.post('/customers/', { email: 'buyer@example.com' }));
  return { ...owner, fake, processor, customer, apiUrl: admin.url };
}

export function tokenised({ admin, processor }: StripeShop, token: string): Promise<Answer> {
  return admin.post('/payment-methods/', { processor_id: processor, token });
}

/** A method of the customer's that behaves as the fake's card of this name. */
export async function methodOf(shop: StripeShop, behaviour = 'visa'): Promise<string> {
  const id = await made(tokenised(shop, `tok_${behaviour}`));
  const attached = await shop.admin.post(`/payment-methods/${id}/attach`, { customer_id: shop.customer });
  if (attached.status !== 200) throw new Error(attached.text);
  return id;
}

export async function sell(shop: StripeShop, behaviour: string, more: { method?: string; extra?: object } = {}): Promise<Answer> {
  return shop.admin.post('/payment-intents/', {
    amount_atom: 4_200, currency: 'eur', customer_id: shop.customer, payment_method_id: more.method ?? (await methodOf(shop, behaviour)), confirm: true,
    return_url: 'https://shop.example/back', ...more.extra,
  });
}

export async function chargesOf({ admin }: StripeShop, intent: string): Promise<Answer['body'][]> {
  return (await admin.post('/charges/list', { payment_intent_id: intent })).body.data;
}

export function settled({ admin }: StripeShop, intent: string, ...statuses: string[]): Promise<Answer['body']> {
  return eventually(async () => {
    const { body } = await admin.get(`/payment-intents/${intent}`);
    return statuses.includes(body.status) ? body : null;
  }, { timeoutMs: 60_000, intervalMs: 100 });
}

/** What the fake holds of the intent's first attempt. */
export function booked({ fake }: StripeShop, intent: string, attempt = 1): Thing[] {
  return fake.intentOf(`${intent}-${attempt}`);
}

/** Posts an event as Stripe does. */
export async function post(shop: StripeShop, { body, headers }: { body: string; headers: Record<string, string> }): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${shop.apiUrl}/callbacks/${shop.processor}`, { method: 'POST', body, headers });
  return { status: answer.status, text: await answer.text() };
}
