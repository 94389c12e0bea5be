import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { eventually } from '../support/stack.js';
import { made } from '../payments/shop.js';
import { ReferenceProvider, type BookedPayment, type ProviderOptions } from './reference-provider.js';

/** An account that sells through one provider of its own. */
export interface HttpShop extends TestAccount {
  provider: ReferenceProvider;
  processor: string;
  customer: string;
}

export interface HttpShopOptions extends ProviderOptions {
  settings?: object;
}

const opened: ReferenceProvider[] = [];

/** Ends every provider of this spec; call it in `afterAll`. */
export async function closeHttpShops(): Promise<void> {
  await Promise.all(opened.map((provider) => provider.remove()));
}

/** A provider that `closeHttpShops` ends. */
export async function startProvider(options?: ProviderOptions): Promise<ReferenceProvider> {
  const provider = await ReferenceProvider.start(options);
  opened.push(provider);
  return provider;
}

export async function openHttpShop({ settings, ...options }: HttpShopOptions = {}): Promise<HttpShop> {
  const [account, provider] = [await freshAccount(), await startProvider(options)];
  const processor = await connect(account, provider, settings);
  await route(account, [processor]);
  const customer = await made(account.admin.post('/customers/', { email: 'buyer@example.com' }));
  return { ...account, provider, processor, customer };
}

export function connect({ admin }: TestAccount, provider: ReferenceProvider, settings: object = {}): Promise<string> {
  const body = { name: 'Our own', kind: 'http', credentials: { secret: provider.secret }, settings: { base_url: provider.url, ...settings } };
  return made(admin.post('/payment-processors/', body));
}

export function route({ admin }: TestAccount, processors: string[], fallback?: object): Promise<string> {
  const then = { strategy: 'priority', processors, ...(fallback ? { fallback } : {}) };
  return made(admin.post('/payment-routes/', { name: 'main', route_configuration: { rules: [], default: then } }));
}

export function tokenised({ admin, processor }: HttpShop, token = 'tok_approved'): Promise<Answer> {
  return admin.post('/payment-methods/', { processor_id: processor, token });
}

/** A method of the customer's. */
export async function methodOf(shop: HttpShop, token?: string): Promise<string> {
  const id = await made(tokenised(shop, token));
  const attached = await shop.admin.post(`/payment-methods/${id}/attach`, { customer_id: shop.customer });
  if (attached.status !== 200) throw new Error(attached.text);
  return id;
}

export async function sell(shop: HttpShop, more: { method?: string; key?: string; extra?: object } = {}): Promise<Answer> {
  const body = {
    amount_atom: 4_200, currency: 'eur', customer_id: shop.customer, payment_method_id: more.method ?? (await methodOf(shop)), confirm: true, ...more.extra,
  };
  return shop.admin.post('/payment-intents/', body, more.key ? { key: more.key } : {});
}

export async function chargesOf({ admin }: HttpShop, intent: string): Promise<Answer['body'][]> {
  return (await admin.post('/charges/list', { payment_intent_id: intent })).body.data;
}

/** What the provider itself holds of an intent's first attempt. */
export function booked({ provider }: HttpShop, intent: string): Promise<BookedPayment[]> {
  return provider.paymentsOf(`${intent}-1`);
}

/** The intent, once it has one of the statuses. */
export function settled({ admin }: HttpShop, intent: string, ...statuses: string[]): Promise<Answer['body']> {
  return eventually(async () => {
    const { body } = await admin.get(`/payment-intents/${intent}`);
    return statuses.includes(body.status) ? body : null;
  }, { timeoutMs: 60_000, intervalMs: 200 });
}

/** The attempt, once its outcome is known to be unknown. */
export function unknownCharge(shop: HttpShop, intent: string): Promise<Answer['body']> {
  return eventually(async () => {
    const [charge] = await chargesOf(shop, intent);
    return charge?.status === 'pending' && charge.outcome_class === 'unknown' ? charge : null;
  });
}
