import { simulatorOutcomeNames, type SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';
import type { Answer, Ask, Caller } from '../caller.js';
import type { Random } from '../random.js';
import { cardOf, RunIsOver, type Shop } from '../shop.js';

export type ExecutionChoice = 'workflow' | 'inline' | 'mixed';

/** One customer's way through the service. Everything it does is drawn from its own generator. */
export interface Journey {
  name: string;
  /** Rises by one per journey of the run: where every trigger must come up, it decides. */
  index: number;
  shop: Shop;
  caller: Caller;
  random: Random;
  execution: ExecutionChoice;
  /** What customers and people do at the provider itself, straight there; a provider that is away was not reached. */
  atProvider: (path: string, body: object) => Promise<void>;
}

export type Simulate = SimulatorOutcome | Record<string, SimulatorOutcome>;

export interface Wish {
  card?: string;
  method?: string;
  simulate?: Simulate | null;
  route?: keyof Shop['routes'];
  manual?: boolean;
  offSession?: boolean;
  confirm?: boolean;
  amount?: number;
}

/** Body of a new payment; the method is made first. */
export async function paymentBody({ shop, caller, random, execution, name }: Journey, wish: Wish = {}): Promise<object> {
  const method = wish.method ?? (await cardOf(shop, caller, wish.card ?? '4242424242424242'));
  return {
    amount_atom: wish.amount ?? random.between(200, 90_000),
    currency: random.pick(['eur', 'usd']),
    customer_id: shop.customer,
    payment_method_id: method,
    payment_route_id: shop.routes[wish.route ?? 'single'],
    capture_method: wish.manual ? 'manual' : 'automatic',
    off_session: wish.offSession ?? false,
    confirm: wish.confirm ?? true,
    execution: execution === 'mixed' ? random.pick(['workflow', 'inline']) : execution,
    metadata: { journey: name },
    ...(wish.simulate ? { custom_fields: { simulate: wish.simulate } } : {}),
  };
}

/** Asks for the payment until the answer is certain; now and then the caller hangs up in the middle of the first time. */
export async function pay(journey: Journey, wish: Wish = {}): Promise<Answer> {
  const { caller, random } = journey;
  const hangUpMs = random.chance(0.12) ? random.between(5, 1_500) : undefined;
  return sure(await caller.post('/payment-intents/', await paymentBody(journey, wish), { hangUpMs }));
}

export function sure(answer: Answer | null): Answer {
  if (answer === null) throw new RunIsOver();
  return answer;
}

/** The payment of an answer, also of a refusal. */
export function intentOf({ body }: Answer): string | null {
  if (typeof body?.payment_intent_id === 'string') return body.payment_intent_id;
  return typeof body?.id === 'string' && body.id.startsWith('pi_') ? body.id : null;
}

export const resting = ['succeeded', 'canceled', 'requires_payment_method', 'requires_capture', 'requires_action', 'exception'];

/** The intent once it has one of the statuses; null if that takes too long. */
export function reaches({ caller }: Journey, id: string, ...statuses: string[]): Promise<Answer['body'] | null> {
  return caller.until(`/payment-intents/${id}`, (intent) => statuses.includes(intent.status));
}

/** Sends the same changes at the same time, each with a key of its own unless one is given. */
export function atOnce({ caller }: Journey, asks: readonly (Omit<Ask, 'method'> & { method?: Ask['method'] })[]): Promise<(Answer | null)[]> {
  return Promise.all(asks.map((ask) => caller.insist({ method: 'POST', key: caller.newKey(), body: {}, ...ask })));
}

/** Answers a challenge as the customer would. */
export function answerChallenge({ atProvider }: Journey, redirectUrl: string, result: 'passed' | 'failed'): Promise<void> {
  return atProvider(new URL(redirectUrl).pathname, { result });
}

export const declines: readonly SimulatorOutcome[] = ['do_not_honor', 'issuer_unavailable', 'velocity_exceeded', 'insufficient_funds', 'incorrect_cvc'];
export const troubles: readonly SimulatorOutcome[] = [
  'timeout_before_charge', 'timeout_after_charge', 'error_before_charge', 'error_after_charge', 'malformed_answer', 'connection_refused', 'processing_error',
  'rate_limited', 'misconfigured', 'delay_5s',
];
export const triggers: readonly SimulatorOutcome[] = simulatorOutcomeNames;
