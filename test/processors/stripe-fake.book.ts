import { randomBytes } from 'node:crypto';

/** What a card of the fake does; the part of a token after `tok_` or `pm_` names it. */
interface Behaviour {
  brand?: string;
  /** Refusal when it is set up. */
  setup?: Refusal | 'challenge' | 'mandate';
  /** What a confirmation does. */
  charge?: Refusal | 'challenge' | 'processing' | 'partial';
  /** Refused without the customer only. */
  absent?: Refusal;
  /** Stripe's own fraud engine refused, not the issuer. */
  radar?: 'highest_risk_level' | 'rule';
  /** How its refunds begin. */
  refund?: 'pending' | 'failed';
}

export interface Refusal {
  code: string;
  decline_code?: string;
  advice_code?: string;
  network_advice_code?: string;
  network_decline_code?: string;
}

const declined = (decline_code: string, more: Omit<Refusal, 'code'> = {}): Refusal => ({ code: 'card_declined', decline_code, ...more });

export const behaviours: Record<string, Behaviour> = {
  visa: {},
  mastercard: { brand: 'mastercard' },
  do_not_honor: { charge: declined('do_not_honor', { advice_code: 'try_again_later', network_decline_code: '05' }) },
  insufficient_funds: { charge: declined('insufficient_funds', { network_decline_code: '51' }) },
  lost_card: { charge: declined('lost_card', { advice_code: 'do_not_try_again', network_decline_code: '41' }) },
  fraudulent: { charge: declined('fraudulent') },
  never_again: { brand: 'mastercard', charge: declined('generic_decline', { network_advice_code: '03', network_decline_code: '05' }) },
  blocked_by_radar: { charge: declined('generic_decline'), radar: 'highest_risk_level' },
  blocked_by_rule: { charge: declined('generic_decline'), radar: 'rule' },
  unheard_of: { charge: declined('made_up_by_the_fake') },
  processing_error: { charge: { code: 'processing_error' } },
  refused_at_setup: { setup: declined('stolen_card') },
  wants_customer: { absent: { code: 'authentication_required', decline_code: 'authentication_required' } },
  wants_mandate: { setup: 'mandate' },
  challenge: { setup: 'challenge', charge: 'challenge' },
  processing: { charge: 'processing' },
  partial: { charge: 'partial' },
  refund_pending: { refund: 'pending' },
  refund_failed: { refund: 'failed' },
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Thing = Record<string, any> & { id: string; object: string };

/** A refusal in Stripe's own format. `saved`: the endpoint had begun, so its key answers the same again. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly error: { type: string; code?: string; message: string; [more: string]: unknown },
    readonly saved = true,
  ) {
    super(error.message);
  }
}

export const mint = (prefix: string) => `${prefix}_${randomBytes(9).toString('hex')}`;
const seconds = () => Math.floor(Date.now() / 1_000);
const behaviourOf = (method: string) => behaviours[method.replace(/^pm_/, '').replace(/_x\w*$/, '')] ?? {};
const missing = (what: string, id: string) => new Refused(404, { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${what}: '${id}'` });

/** Stripe's objects and their states, as far as a payment goes through them. */
export class StripeBook {
  readonly things = new Map<string, Thing>();

  get(object: string, id: string): Thing {
    const thing = this.things.get(id);
    if (thing?.object !== object) throw missing(object, id);
    return thing;
  }

  all(object: string): Thing[] {
    return [...this.things.values()].filter((thing) => thing.object === object).reverse();
  }

  private add(thing: Thing): Thing {
    this.things.set(thing.id, thing);
    return thing;
  }

  /** `pm_<behaviour>_x…`: so that many cards of one behaviour can be told apart. */
  method(token: string): Thing {
    const name = token.replace(/^tok_/, '');
    if (!(name in behaviours)) throw missing('token', token);
    const card = {
      brand: behaviours[name]?.brand ?? 'visa', last4: '4242', exp_month: 12, exp_year: 2040, funding: 'credit', country: 'DE', fingerprint: mint('fp'), iin: null, issuer: null,
    };
    return this.add({ id: `pm_${name}_x${mint('c').slice(2)}`, object: 'payment_method', type: 'card', customer: null, card, created: seconds() });
  }

  customer(metadata: Thing): Thing {
    return this.add({ id: mint('cus'), object: 'customer', metadata, created: seconds() });
  }

  attach(id: string, customer: string): Thing {
    const method = this.get('payment_method', id);
    if (method.customer) throw new Refused(400, { type: 'invalid_request_error', code: 'payment_method_unexpected_state', message: 'already attached' });
    method.customer = this.get('customer', customer).id;
    return method;
  }

  setup(asked: Thing): Thing {
    const method = this.get('payment_method', asked.payment_method);
    const { setup } = behaviourOf(method.id);
    if (setup === 'mandate') throw new Refused(400, { type: 'invalid_request_error', code: 'setup_intent_invalid_parameter', message: 'A mandate is required.' });
    const intent = this.add({
      id: mint('seti'), object: 'setup_intent', status: setup ? 'requires_action' : 'succeeded', usage: asked.usage, payment_method: method.id,
      customer: asked.customer ?? null, metadata: asked.metadata ?? {}, last_setup_error: null, created: seconds(),
    });
    if (!setup || setup === 'challenge') return intent;
    intent.status = 'requires_payment_method';
    intent.last_setup_error = { type: 'card_error', ...setup, payment_method: method };
    throw new Refused(402, { type: 'card_error', ...setup, message: 'Your card was declined.', setup_intent: intent, payment_method: method });
  }

  intent(asked: Thing): Thing {
    const method = this.get('payment_method', asked.payment_method);
    if (method.customer && method.customer !== asked.customer) {
      throw new Refused(400, { type: 'invalid_request_error', message: 'The payment method belongs to a customer; name the customer.' });
    }
    return this.add({
      id: mint('pi'), object: 'payment_intent', amount: Number(asked.amount), amount_capturable: 0, amount_received: 0, currency: asked.currency,
      status: 'requires_confirmation', capture_method: asked.capture_method ?? 'automatic', created: seconds(), metadata: asked.metadata ?? {},
      customer: asked.customer ?? null, payment_method: method.id, setup_future_usage: asked.setup_future_usage ?? null, last_payment_error: null,
      next_action: null, latest_charge: null,
    });
  }

  confirm(id: string, asked: Record<string, string>): Thing {
    const intent = this.get('payment_intent', id);
    if (intent.status !== 'requires_confirmation' && intent.status !== 'requires_payment_method') throw this.otherState(intent);
    const { charge, absent } = behaviourOf(intent.payment_method);
    const refusal = asked.off_session === 'true' && absent ? absent : charge;
    if (typeof refusal === 'object') throw this.decline(intent, refusal);
    if (refusal === 'challenge' && (asked.error_on_requires_action === 'true' || asked.off_session === 'true')) {
      throw this.decline(intent, { code: 'authentication_required', decline_code: 'authentication_required' });
    }
    if (refusal === 'challenge') {
      intent.status = 'requires_action';
      intent.next_action = { type: 'redirect_to_url', redirect_to_url: { url: `https://hooks.stripe.example/${intent.id}`, return_url: asked.return_url ?? null } };
      return intent;
    }
    if (refusal === 'processing') return Object.assign(intent, { status: 'processing' });
    return this.approve(intent, refusal === 'partial' ? Math.floor(intent.amount / 2) : intent.amount);
  }

  decline(intent: Thing, refusal: Refusal): Refused {
    const payment_method = this.get('payment_method', intent.payment_method);
    intent.status = 'requires_payment_method';
    intent.next_action = null;
    const { radar } = behaviourOf(intent.payment_method);
    intent.latest_charge = this.add({
      id: mint('ch'), object: 'charge', amount: intent.amount, amount_captured: 0, amount_refunded: 0, captured: false, currency: intent.currency, disputed: false,
      created: seconds(), metadata: intent.metadata, payment_intent: intent.id, status: 'failed', paid: false,
      outcome: radar ? { type: 'blocked', reason: radar } : { type: 'issuer_declined', reason: refusal.decline_code ?? refusal.code },
    }).id;
    intent.last_payment_error = { type: 'card_error', message: 'Your card was declined.', ...refusal, payment_method };
    const error = { type: 'card_error', message: 'Your card was declined.', ...refusal, payment_intent: { ...intent }, payment_method };
    return new Refused(402, error);
  }

  approve(intent: Thing, amount: number = intent.amount): Thing {
    const captured = intent.capture_method === 'manual' ? 0 : amount;
    const charge = this.add({
      id: mint('ch'), object: 'charge', amount, amount_captured: captured, amount_refunded: 0, captured: captured > 0, currency: intent.currency, disputed: false,
      created: seconds(), metadata: intent.metadata, payment_intent: intent.id, status: 'succeeded', paid: true,
      payment_method_details: { type: 'card', card: { network_transaction_id: `ntid${intent.id.slice(3)}` } },
    });
    return Object.assign(intent, {
      status: captured > 0 ? 'succeeded' : 'requires_capture', latest_charge: charge.id, next_action: null, last_payment_error: null,
      amount_received: captured, amount_capturable: captured > 0 ? 0 : amount,
    });
  }

  capture(id: string, amount: number): Thing {
    const intent = this.get('payment_intent', id);
    if (intent.status !== 'requires_capture') throw this.otherState(intent);
    if (amount > intent.amount_capturable) throw new Refused(400, { type: 'invalid_request_error', code: 'amount_too_large', message: 'More than is capturable.' });
    const charge = this.get('charge', intent.latest_charge);
    Object.assign(charge, { amount_captured: amount, captured: true });
    if (amount < charge.amount) this.release(charge, charge.amount - amount);
    return Object.assign(intent, { status: 'succeeded', amount_received: amount, amount_capturable: 0 });
  }

  cancel(id: string): Thing {
    const intent = this.get('payment_intent', id);
    if (intent.status === 'succeeded' || intent.status === 'processing' || intent.status === 'canceled') throw this.otherState(intent);
    if (intent.amount_capturable > 0) this.release(this.get('charge', intent.latest_charge), intent.amount_capturable);
    return Object.assign(intent, { status: 'canceled', amount_capturable: 0, next_action: null });
  }

  refund(asked: Thing): Thing {
    const intent = this.get('payment_intent', asked.payment_intent);
    const charge = this.get('charge', intent.latest_charge ?? '');
    const amount = asked.amount === undefined ? charge.amount - charge.amount_refunded : Number(asked.amount);
    if (charge.amount_refunded + amount > charge.amount) {
      throw new Refused(400, { type: 'invalid_request_error', code: 'charge_already_refunded', message: 'More than is left.' });
    }
    const { refund } = behaviourOf(intent.payment_method);
    const failed = refund === 'failed';
    if (!failed) charge.amount_refunded += amount;
    return this.add({
      id: mint('re'), object: 'refund', amount, currency: charge.currency, charge: charge.id, payment_intent: intent.id, metadata: asked.metadata ?? {},
      status: refund ?? 'succeeded', balance_transaction: mint('txn'), created: seconds(), ...(failed ? { failure_reason: 'expired_or_canceled_card' } : {}),
    });
  }

  /** Stripe tells what was authorised and not captured as refunded, without a balance transaction. */
  private release(charge: Thing, amount: number): void {
    charge.amount_refunded += amount;
    this.add({
      id: mint('re'), object: 'refund', amount, currency: charge.currency, charge: charge.id, payment_intent: charge.payment_intent, metadata: {}, status: 'succeeded',
      balance_transaction: null, created: seconds(),
    });
  }

  settleRefund(id: string, status: 'succeeded' | 'failed'): Thing {
    const refund = this.get('refund', id);
    if (status === 'failed') this.get('charge', refund.charge).amount_refunded -= refund.amount;
    return Object.assign(refund, { status, ...(status === 'failed' ? { failure_reason: 'lost_or_stolen_card' } : {}) });
  }

  dispute(intentId: string, reason: string): Thing {
    const intent = this.get('payment_intent', intentId);
    const charge = this.get('charge', intent.latest_charge);
    charge.disputed = true;
    return this.add({
      id: mint('du'), object: 'dispute', amount: charge.amount_captured, currency: charge.currency, reason, status: 'needs_response', payment_intent: intent.id,
      charge: charge.id, created: seconds(),
    });
  }

  private otherState(intent: Thing): Refused {
    const message = `This PaymentIntent's state is ${intent.status}.`;
    return new Refused(400, { type: 'invalid_request_error', code: 'payment_intent_unexpected_state', message, payment_intent: { ...intent } });
  }
}
