import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { made } from '../payments/shop.js';
import { ReferenceProvider, type ProviderOptions } from './reference-provider.js';

/** An account that sells through one provider of its own. */
export interface HttpShop extends TestAccount {
  provider: ReferenceProvider;
  processor: string;
  customer: string;
}

export interface HttpShopOptions extends ProviderOptions {
  settings?: object;
}

export async function openHttpShop({ settings, ...options }: HttpShopOptions = {}): Promise<HttpShop> {
  const [account, provider] = [await freshAccount(), await ReferenceProvider.start(options)];
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
