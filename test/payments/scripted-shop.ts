import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { made } from './shop.js';
import { ScriptedProvider } from './scripted-provider.js';

/** An account that sells through two scripted providers, A before B. */
export interface ScriptedShop extends TestAccount {
  customer: string;
  providers: { a: ScriptedProvider; b: ScriptedProvider };
  a: string;
  b: string;
}

/** Whatever a route may allow. */
export const everyClass = ['soft_decline', 'not_sent', 'processor_error', 'action_required', 'partial_approval'];

const opened: ScriptedProvider[] = [];

/** Ends the providers of every shop that the spec has opened. */
export function closeProviders(): Promise<unknown> {
  return Promise.all(opened.map((provider) => provider.close()));
}

export async function openScriptedShop({ settings = {}, on = everyClass }: { settings?: object; on?: string[] } = {}): Promise<ScriptedShop> {
  const account = await freshAccount();
  const providers = { a: await ScriptedProvider.open(), b: await ScriptedProvider.open() };
  opened.push(providers.a, providers.b);
  const [a, b] = [await providers.a.connect(account.admin, settings), await providers.b.connect(account.admin, settings)];
  const then = { strategy: 'priority', processors: [a, b], fallback: { on, max_attempts: 3 } };
  await made(account.admin.post('/payment-routes/', { name: 'main', route_configuration: { rules: [], default: then } }));
  const customer = await made(account.admin.post('/customers/', { email: 'buyer@example.com' }));
  return { ...account, customer, providers, a, b };
}

/** A card of the customer's that both providers know. `card`: `<brand>:<fingerprint>`. */
export async function scriptedCard(shop: ScriptedShop, card = 'visa:one', customer = shop.customer): Promise<string> {
  const { admin } = shop;
  const id = await made(admin.post('/payment-methods/', { processor_id: shop.a, token: card }));
  const mapping = { processor_id: shop.b, their_payment_method_id: `there-${id}`, network_transaction_id: 'ntid', fingerprint: card };
  await made(admin.post(`/payment-methods/${id}/mappings`, mapping));
  const attached = await admin.post(`/payment-methods/${id}/attach`, { customer_id: customer });
  if (attached.status !== 200) throw new Error(attached.text);
  return id;
}

export async function sell(shop: ScriptedShop, { method, ...extra }: { method?: string; [field: string]: unknown } = {}): Promise<Answer> {
  const wish = { amount_atom: 1_000, currency: 'eur', customer_id: shop.customer, confirm: true };
  return shop.admin.post('/payment-intents/', { ...wish, payment_method_id: method ?? (await scriptedCard(shop)), ...extra });
}

export async function attemptsOf({ admin }: ScriptedShop, intentId: string): Promise<Answer['body'][]> {
  return (await admin.post('/charges/list', { payment_intent_id: intentId })).body.data;
}

/** Connection and class of each attempt, in order. */
export async function trail(shop: ScriptedShop, intentId: string): Promise<[string, string][]> {
  const charges = await attemptsOf(shop, intentId);
  return charges
    .sort((x, y) => x.attempt_number - y.attempt_number)
    .map((charge) => [charge.payment_processor_id === shop.a ? 'A' : 'B', charge.outcome_class]);
}

export async function decisionsOf({ admin }: ScriptedShop, intentId: string): Promise<Answer['body'][]> {
  return (await admin.get(`/payment-intents/${intentId}/decisions`)).body;
}
