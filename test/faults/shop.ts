import { openAccount } from '../../libs/db/account.writes.js';
import type { Database } from '../../libs/db/client.js';
import type { Caller, Callers } from './caller.js';
import type { Random } from './random.js';
import type { FaultyReceiver } from './receiver.js';

/** One account of the run: three connections, routes over them, endpoints that hear everything. */
export interface Shop {
  /** UUID. */
  account: string;
  caller: Caller;
  /** Public ids; `b` has no idempotency support. */
  a: string;
  b: string;
  c: string;
  routes: { single: string; pair: string; trio: string; unkeyed: string };
  customer: string;
  /** A price of a subscription, made when first asked for. */
  price: (interval: 'day' | 'month') => Promise<string>;
}

export interface Surroundings {
  database: Database;
  tokenKey: Buffer;
  callers: Callers;
  receiver: FaultyReceiver;
  random: Random;
}

export class RunIsOver extends Error {}

/**
 * The provider's promise: nothing takes effect later than `settle_after_ms` past the call's own limits. The latest request (6 s)
 * that meets the longest standstill (4 s) keeps it, with 2.5 s to spare for a slow machine.
 */
const deadlines = { total_timeout_ms: 2_500, connect_timeout_ms: 1_000, settle_after_ms: 9_000 };
const everyClass = ['soft_decline', 'not_sent', 'processor_error', 'action_required', 'partial_approval'];

export async function openShop(around: Surroundings, name: string): Promise<Shop> {
  const { account, token } = await openAccountWithPatience(around, name);
  const caller = around.callers.as(account, token, around.random).on(name);
  const make = (path: string, body: object) => made(caller, path, body);
  const connection = async (letter: string, more: object = {}): Promise<string> =>
    (await make('/payment-processors/', { name: `${name} ${letter}`, kind: 'simulator', settings: { ...deadlines, ...more } })).id;
  for (const [index, data_format] of ['object', 'string'].entries()) {
    const path = `${name}-${index}`;
    const endpoint = await make('/webhook-endpoints/', { url: around.receiver.urlOf(path), data_format });
    around.receiver.register(path, { id: endpoint.id, account, secret: endpoint.secret });
  }
  const [a, b, c] = [await connection('A'), await connection('B', { idempotency: false }), await connection('C')];
  const route = async (title: string, then: object): Promise<string> =>
    (await make('/payment-routes/', { name: title, route_configuration: { rules: [], default: { strategy: 'priority', ...then } } })).id;
  const routes = {
    single: await route('single', { processors: [a] }),
    pair: await route('pair', { processors: [a, b] }),
    trio: await route('trio', { processors: [a, b, c], fallback: { on: everyClass, max_attempts: 3 } }),
    unkeyed: await route('unkeyed', { processors: [b, c], fallback: { on: everyClass, max_attempts: 2 } }),
  };
  const customer = (await make('/customers/', { email: `${name}@example.com` })).id;
  const prices = new Map<string, Promise<string>>();
  const price = (interval: 'day' | 'month'): Promise<string> => {
    const known = prices.get(interval) ?? openPrice(make, interval);
    prices.set(interval, known);
    return known;
  };
  return { account, caller, a, b, c, routes, customer, price };
}

async function openPrice(make: (path: string, body: object) => Promise<{ id: string }>, interval: string): Promise<string> {
  const product = await make('/products/', { name: 'Plan', description: 'A plan' });
  const terms = { product_id: product.id, price_type: 'recurring', pricing_model: 'standard', currency: 'eur', is_active: true };
  return (await make('/prices/', { ...terms, unit_amount_atom: 1_200, billing_interval: interval })).id;
}

async function openAccountWithPatience({ database, tokenKey }: Surroundings, name: string): Promise<{ account: string; token: string }> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { account, token } = await openAccount(database.db, { environment: 'staging', name, tokenKey });
      return { account: account.id, token };
    } catch (error) {
      if (tries === 60) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export async function made(caller: Caller, path: string, body: object, recorded?: object): Promise<any> {
  const answer = await caller.post(path, body, { recorded });
  if (answer === null) throw new RunIsOver();
  if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 300)}`);
  return answer.body;
}

export const cardNumbers = {
  good: ['4242424242424242', '5555555555554444', '378282246310005'],
  declined: ['4000000000000341', '4000000000009995'],
  fraud: '4100000000000019',
  failing: '4000000000000119',
  challenged: '4000002760003184',
  challengedPoor: '4000008260003178',
  disputed: '4000000000000259',
};

/** A card of the shop's customer. */
export async function cardOf({ customer }: Shop, caller: Caller, number: string): Promise<string> {
  const card = { number, exp_month: 12, exp_year: 2040, cvc: number.startsWith('3') ? '7391' : '739' };
  for (let tries = 1; ; tries += 1) {
    const answer = await caller.post('/payment-methods/', { card }, { recorded: { card: 'not written down' } });
    if (answer === null) throw new RunIsOver();
    if (answer.status === 402 && tries < 5) continue;
    if (answer.status >= 300) throw new Error(`a card was refused: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    await made(caller, `/payment-methods/${answer.body.id}/attach`, { customer_id: customer });
    return answer.body.id;
  }
}
