import type { Stripe } from 'stripe';
import { failedRead, unknownOutcome } from '../payment-reading.js';
import type {
  AuthorizeCall, CallbackAnswer, CaptureCall, CheckAnswer, Connection, InboundCallback, ListAnswer, ListCall, LookupAnswer, LookupCall, OperationOutcome,
  PaymentOutcome, PrepareOutcome, ProcessorAdapter, ProcessorCapabilities, RefundCall, TokeniseCall, TokeniseOutcome, VerifyCall, VoidCall,
} from '../port.js';
import { toStripe } from './stripe.amount.js';
import { balanceAnswer, intentAnswer, refundAnswer, type IntentAnswer } from './stripe.answer.js';
import { parseStripeCallback } from './stripe.callback.js';
import { StripeClients } from './stripe.client.js';
import { isReusable, SavedMethods, tokeniseMethod, verifyMethod, type SavedMethod } from './stripe.method.js';
import { failureOutcome, isUnconfirmed, mayBeRadar, paymentOutcome, referenceKey, refundOutcome, unexpectedState } from './stripe.outcome.js';
import { listPayments, lookupIntent, lookupRefund } from './stripe.read.js';

const day = 86_400_000;
const tenMinutes = 600_000;
/** Making an unconfirmed payment moves no money, so nothing is lost when it is given up early. */
const longestPrepareMs = 15_000;

const expand = ['latest_charge'];

export function createStripeAdapter({ allowLoopback }: { allowLoopback: boolean }): ProcessorAdapter {
  return new StripeAdapter(new StripeClients(allowLoopback));
}

class StripeAdapter implements ProcessorAdapter {
  readonly kind = 'stripe';
  private readonly methods = new SavedMethods();

  constructor(private readonly clients: StripeClients) {}

  /** Keys answer for at least a day (docs.stripe.com/api/idempotent_requests). Reads by id are strong; nothing is ever searched. */
  capabilities({ settings }: Connection): ProcessorCapabilities {
    const settle = settings.settle_after_ms;
    return { idempotencyWindowMs: day, lookup: 'strong', settleAfterMs: typeof settle === 'number' ? settle : tenMinutes, list: true };
  }

  /** Makes the PaymentIntent without confirming it: it has an id and our reference, and takes no money. */
  async prepare(connection: Connection, call: AuthorizeCall): Promise<PrepareOutcome> {
    const stripe = this.clients.for(connection);
    try {
      const method = await this.methods.of(stripe, connection, call.theirPaymentMethodId);
      const timeout = Math.min(connection.deadlines.totalMs, longestPrepareMs);
      const made = await stripe.paymentIntents.create(newPayment(call, method), { idempotencyKey: call.idempotencyKey, timeout });
      const intent = intentAnswer.parse(made);
      const outcome = paymentOutcome(intent, call);
      return outcome.outcomeClass === 'mismatch' ? outcome : { outcomeClass: 'approved', processorPaymentId: intent.id };
    } catch (error) {
      return failureOutcome(error);
    }
  }

  /** Confirms what `prepare` made. */
  async authorize(connection: Connection, call: AuthorizeCall): Promise<PaymentOutcome> {
    const id = call.processorPaymentId;
    if (!id) return { outcomeClass: 'not_sent', declineCode: 'connection_failed', rawMessage: 'There is no PaymentIntent to confirm.' };
    const stripe = this.clients.for(connection);
    const returnUrl = call.returnUrl ?? (connection.settings.return_url as string | null | undefined) ?? null;
    try {
      const options = { idempotencyKey: `${call.idempotencyKey}-confirm` };
      const confirmed = await stripe.paymentIntents.confirm(id, { ...presence(call, returnUrl), expand }, options);
      return paymentOutcome(intentAnswer.parse(confirmed), call);
    } catch (error) {
      const outcome = refusedConfirmation(error, call);
      return mayBeRadar(outcome) ? this.refusedBy(stripe, call, outcome) : outcome;
    }
  }

  /** Who refused: where that cannot be read, the refusal stands as it came. */
  private async refusedBy(stripe: Stripe, call: AuthorizeCall, outcome: PaymentOutcome): Promise<PaymentOutcome> {
    try {
      const { outcomeClass, declineCode } = paymentOutcome(intentAnswer.parse(await stripe.paymentIntents.retrieve(call.processorPaymentId!, { expand })), call);
      return outcomeClass === 'risk_refused' ? { ...outcome, outcomeClass, declineCode } : outcome;
    } catch {
      return outcome;
    }
  }

  async capture(connection: Connection, call: CaptureCall): Promise<OperationOutcome> {
    const { processorPaymentId: id, amountAtom, currency, idempotencyKey } = call;
    try {
      const params = { amount_to_capture: toStripe(amountAtom, currency), metadata: { signalbox_capture: call.reference } };
      return captureOutcome(intentAnswer.parse(await this.clients.for(connection).paymentIntents.capture(id, params, { idempotencyKey })), call);
    } catch (error) {
      const intent = unexpectedState(error);
      return intent ? captureOutcome(intent, call) : failureOutcome(error);
    }
  }

  async void(connection: Connection, call: VoidCall): Promise<OperationOutcome> {
    const id = call.processorPaymentId;
    if (!id) return unknownOutcome('The PaymentIntent\'s id is not known, and a search proves nothing.');
    try {
      const { idempotencyKey } = call;
      return voidOutcome(intentAnswer.parse(await this.clients.for(connection).paymentIntents.cancel(id, {}, { idempotencyKey })), call);
    } catch (error) {
      const intent = unexpectedState(error);
      return intent ? voidOutcome(intent, call) : failureOutcome(error);
    }
  }

  async refund(connection: Connection, call: RefundCall): Promise<OperationOutcome> {
    try {
      const { processorPaymentId, amountAtom, currency, reference, idempotencyKey } = call;
      const params = { payment_intent: processorPaymentId, amount: toStripe(amountAtom, currency), metadata: { [referenceKey]: reference } };
      return refundOutcome(refundAnswer.parse(await this.clients.for(connection).refunds.create(params, { idempotencyKey })), call);
    } catch (error) {
      return failureOutcome(error);
    }
  }

  async lookup(connection: Connection, call: LookupCall): Promise<LookupAnswer> {
    const { processorPaymentId } = call;
    if (!processorPaymentId) return failedRead(unknownOutcome('The PaymentIntent\'s id is not known, and a search proves nothing.'));
    const stripe = this.clients.for(connection);
    try {
      return call.operation === 'refund'
        ? await lookupRefund(stripe, { ...call, processorPaymentId })
        : await lookupIntent(stripe, { ...call, processorPaymentId });
    } catch (error) {
      return failedRead(failureOutcome(error));
    }
  }

  tokenise(connection: Connection, call: TokeniseCall): Promise<TokeniseOutcome> {
    return tokeniseMethod(this.clients.for(connection), call);
  }

  verify(connection: Connection, call: VerifyCall): Promise<PaymentOutcome> {
    return verifyMethod(this.clients.for(connection), this.methods, { connection, call });
  }

  async check(connection: Connection): Promise<CheckAnswer> {
    const asked = performance.now();
    const since = () => Math.round(performance.now() - asked);
    try {
      const { livemode } = balanceAnswer.parse(await this.clients.for(connection).balance.retrieve());
      return { ok: true, detail: `Stripe accepts the secret key (${livemode ? 'live' : 'test'} mode).`, durationMs: since() };
    } catch (error) {
      return { ok: false, detail: failureOutcome(error).rawMessage ?? 'Stripe gave no answer.', durationMs: since() };
    }
  }

  async list(connection: Connection, call: ListCall): Promise<ListAnswer> {
    try {
      return { ok: true, ...(await listPayments(this.clients.for(connection), call)) };
    } catch (error) {
      return { ok: false, unavailable: failureOutcome(error).rawMessage ?? 'Stripe gave no answer.' };
    }
  }

  parseCallback(connection: Connection, callback: InboundCallback): CallbackAnswer {
    return parseStripeCallback(connection, callback);
  }

  close(): Promise<void> {
    return this.clients.close();
  }
}

/** A customer who is present lets the method be charged later without them, where it is of a kind that can be. */
function newPayment(call: AuthorizeCall, method: SavedMethod): Stripe.PaymentIntentCreateParams {
  const own = Object.entries(call.metadata ?? {}).map(([key, value]) => [`signalbox_${key}`, value]);
  return {
    amount: toStripe(call.amountAtom, call.currency),
    currency: call.currency,
    capture_method: call.capture,
    confirmation_method: 'automatic',
    payment_method: method.id,
    payment_method_types: [method.type],
    metadata: { ...Object.fromEntries(own), [referenceKey]: call.reference },
    ...(method.customer ? { customer: method.customer } : {}),
    ...(!call.offSession && isReusable(method) ? { setup_future_usage: 'off_session' } : {}),
  };
}

/** Without an address to return to nobody can be sent to a challenge: the payment is then refused instead of left open. */
function presence(call: AuthorizeCall, returnUrl: string | null): Stripe.PaymentIntentConfirmParams {
  if (call.offSession) return { off_session: true };
  return returnUrl ? { return_url: returnUrl } : { error_on_requires_action: true };
}

/** A refusal may tell that the payment was confirmed before; then what it says now counts. */
function refusedConfirmation(error: unknown, call: AuthorizeCall): PaymentOutcome {
  const outcome = { ...failureOutcome(error), processorPaymentId: call.processorPaymentId };
  const intent = unexpectedState(error);
  return intent && !isUnconfirmed(intent) ? paymentOutcome(intent, call) : outcome;
}

function captureOutcome(intent: IntentAnswer, call: CaptureCall): OperationOutcome {
  const ids = { processorPaymentId: intent.id };
  if (intent.id !== call.processorPaymentId || intent.currency !== call.currency) return { ...ids, outcomeClass: 'mismatch', rawMessage: 'another payment was answered' };
  if (intent.status === 'succeeded' && intent.amount_received === call.amountAtom) return { ...ids, outcomeClass: 'approved', approvedAmountAtom: intent.amount_received };
  if (intent.status === 'succeeded') return { ...ids, outcomeClass: 'mismatch', rawMessage: `captured ${intent.amount_received} instead of ${call.amountAtom}` };
  if (intent.status === 'processing') return { ...ids, outcomeClass: 'pending' };
  return { ...ids, outcomeClass: 'processor_error', declineCode: 'processing_error', rawMessage: `The payment is ${intent.status} at Stripe.` };
}

function voidOutcome(intent: IntentAnswer, call: VoidCall): OperationOutcome {
  const ids = { processorPaymentId: intent.id };
  if (intent.metadata[referenceKey] !== call.paymentReference) return { ...ids, outcomeClass: 'mismatch', rawMessage: 'another payment was answered' };
  if (intent.status === 'canceled') return { ...ids, outcomeClass: 'approved' };
  return { ...ids, outcomeClass: 'processor_error', declineCode: 'processing_error', rawMessage: `The payment is ${intent.status} at Stripe.` };
}
