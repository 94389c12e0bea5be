import { LRUCache } from 'lru-cache';
import type { Stripe } from 'stripe';
import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import type { CardDescription, Connection, PaymentOutcome, TokeniseCall, TokeniseOutcome, VerifyCall } from '../port.js';
import { customerAnswer, idOf, listOf, methodAnswer, setupAnswer, type MethodAnswer } from './stripe.answer.js';
import { declineOutcome } from './stripe-decline.js';
import { failureOutcome, referenceKey } from './stripe.outcome.js';

/** What a request must say of a saved payment method beside its id. */
export interface SavedMethod {
  id: string;
  /** Stripe's customer that it is attached to; null: it can be charged once, in the customer's presence. */
  customer: string | null;
  type: string;
}

/** Types that a later charge without the customer can use. Source: docs.stripe.com/payments/payment-methods/payment-method-support. */
const reusableTypes = new Set(['card', 'link', 'sepa_debit', 'us_bank_account', 'bacs_debit', 'acss_debit', 'au_becs_debit', 'paypal', 'cashapp', 'amazon_pay', 'revolut_pay']);

export function isReusable({ customer, type }: SavedMethod): boolean {
  return customer !== null && reusableTypes.has(type);
}

/** What Stripe knows of the payment methods that we charge. An attachment never moves: Stripe refuses to attach one twice. */
export class SavedMethods {
  readonly #known = new LRUCache<string, SavedMethod>({ max: 50_000 });

  async of(stripe: Stripe, connection: Connection, id: string): Promise<SavedMethod> {
    const key = `${connection.id}/${id}`;
    const known = this.#known.get(key);
    if (known) return known;
    const method = methodAnswer.parse(await stripe.paymentMethods.retrieve(id));
    const saved = { id: method.id, customer: idOf(method.customer), type: method.type };
    if (saved.customer) this.#known.set(key, saved);
    return saved;
  }
}

/**
 * Makes a token of Stripe's browser library reusable: a card token becomes a payment method, and it is attached to a
 * customer of its own unless the browser did so already. Repeated with the same key, every step is the same step.
 */
export async function tokeniseMethod(stripe: Stripe, { source, reference, idempotencyKey }: TokeniseCall): Promise<TokeniseOutcome> {
  if (!('token' in source)) return unusable('card numbers go to Stripe\'s own form');
  const { token } = source;
  if (!/^(pm|tok)_\w+$/.test(token)) return unusable('expected pm_… or tok_… of Stripe\'s browser library');
  try {
    const method = methodAnswer.parse(
      token.startsWith('tok_')
        ? await stripe.paymentMethods.create({ type: 'card', card: { token } }, { idempotencyKey: `${idempotencyKey}-method` })
        : await stripe.paymentMethods.retrieve(token),
    );
    if (!method.customer) await attach(stripe, { method, reference, idempotencyKey });
    return { outcomeClass: 'approved', theirPaymentMethodId: method.id, card: cardOf(method) };
  } catch (error) {
    return failureOutcome(error);
  }
}

async function attach(stripe: Stripe, made: { method: MethodAnswer; reference: string; idempotencyKey: string }): Promise<void> {
  const metadata = { [referenceKey]: made.reference };
  const { id: customer } = customerAnswer.parse(await stripe.customers.create({ metadata }, { idempotencyKey: `${made.idempotencyKey}-customer` }));
  methodAnswer.parse(await stripe.paymentMethods.attach(made.method.id, { customer }, { idempotencyKey: `${made.idempotencyKey}-attach` }));
}

function unusable(rawMessage: string): AttemptOutcome {
  return { outcomeClass: 'processor_error', declineCode: 'payment_method_not_supported', rawMessage };
}

const fundings = new Set(['credit', 'debit', 'prepaid']);

function cardOf({ id, card }: MethodAnswer): CardDescription | null {
  if (!card) return null;
  return {
    brand: card.brand,
    last4: card.last4,
    iin: card.iin ?? null,
    expMonth: card.exp_month,
    expYear: card.exp_year,
    funding: fundings.has(card.funding) ? (card.funding as CardDescription['funding']) : 'unknown',
    country: card.country ?? null,
    issuer: card.issuer ?? null,
    fingerprint: card.fingerprint ?? id,
  };
}

/**
 * Asks the issuer, without an amount, whether the method may be kept for charges without the customer. A card whose
 * issuer wants to see the customer first is good too, but only for payments in the customer's presence.
 */
export async function verifyMethod(stripe: Stripe, methods: SavedMethods, { connection, call }: { connection: Connection; call: VerifyCall }): Promise<PaymentOutcome> {
  try {
    const saved = await methods.of(stripe, connection, call.theirPaymentMethodId);
    const outcome = await setUp(stripe, saved, call);
    if (outcome.networkTransactionId || !maySetUpEarlier(outcome)) return outcome;
    const earlier = await setUpEarlier(stripe, saved.id);
    return earlier ? { ...outcome, outcomeClass: 'approved', networkTransactionId: earlier } : outcome;
  } catch (error) {
    return failureOutcome(error);
  }
}

async function setUp(stripe: Stripe, { id, customer, type }: SavedMethod, call: VerifyCall): Promise<PaymentOutcome> {
  const params: Stripe.SetupIntentCreateParams = {
    confirm: true,
    usage: 'off_session',
    payment_method: id,
    payment_method_types: [type],
    metadata: { [referenceKey]: call.reference },
    ...(customer ? { customer } : {}),
  };
  try {
    const setup = setupAnswer.parse(await stripe.setupIntents.create(params, { idempotencyKey: call.idempotencyKey }));
    const approved = { outcomeClass: 'approved', processorPaymentId: setup.id } as const;
    if (setup.status === 'succeeded') return { ...approved, networkTransactionId: id };
    if (setup.status === 'requires_action' || setup.status === 'processing') return approved;
    if (setup.last_setup_error) return { ...declineOutcome(setup.last_setup_error), processorPaymentId: setup.id };
    return { outcomeClass: 'unknown', processorPaymentId: setup.id, rawMessage: `the setup is ${setup.status}` };
  } catch (error) {
    return failureOutcome(error);
  }
}

/** The issuer wants the customer, or the kind of method wants a mandate: the browser may have got it before. */
function maySetUpEarlier({ outcomeClass }: PaymentOutcome): boolean {
  return outcomeClass === 'approved' || outcomeClass === 'processor_error';
}

async function setUpEarlier(stripe: Stripe, paymentMethod: string): Promise<string | null> {
  const { data } = listOf(setupAnswer).parse(await stripe.setupIntents.list({ payment_method: paymentMethod, limit: 20 }));
  return data.some((setup) => setup.status === 'succeeded' && setup.usage === 'off_session') ? paymentMethod : null;
}
