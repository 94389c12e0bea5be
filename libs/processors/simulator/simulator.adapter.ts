import type {
  AuthorizeCall,
  CallIdentity,
  CallbackAnswer,
  CaptureCall,
  CheckAnswer,
  Connection,
  InboundCallback,
  ListAnswer,
  ListCall,
  LookupAnswer,
  LookupCall,
  OperationOutcome,
  PaymentOutcome,
  ProcessorAdapter,
  ProcessorCapabilities,
  RefundCall,
  TokeniseCall,
  TokeniseOutcome,
  VerifyCall,
  VoidCall,
} from '../port.js';
import { answered, failedRead, foundOperation, foundPayment, parseAs, totalsOf } from '../payment-reading.js';
import { Wire, type WireResult } from '../wire.js';
import { askedOutcome } from './simulator-outcome.js';
import {
  callbackBody,
  operationAnswer,
  operationList,
  paymentAnswer,
  paymentList,
  paymentMethodAnswer,
  toldPaymentList,
  verificationAnswer,
} from './simulator.answer.js';
import { failureOutcome, operationOutcome, paymentOutcome, toldPayment } from './simulator.outcome.js';
import { callbackSignatureHeader, signatureProblem } from './simulator.signature.js';

export interface SimulatorOptions {
  baseUrl: string;
  /** What the simulator signs its callbacks with; null or absent: every callback is refused. */
  secret?: Buffer | null;
}

const tenMinutes = 600_000;
const day = 86_400_000;
/** Nothing listens here; dialling it is a real refused connection. */
const closedPort = 'http://127.0.0.1:1';

export function createSimulatorAdapter(options: SimulatorOptions): ProcessorAdapter {
  return new SimulatorAdapter(options.baseUrl.replace(/\/+$/, ''), options.secret ?? null);
}

type Asked = { simulate?: AuthorizeCall['simulate'] };
type Fields = { amount?: number; currency?: string; payment?: string | null; payment_reference?: string };

function sumOf(call: CaptureCall | RefundCall): Fields {
  return { amount: call.amountAtom, currency: call.currency };
}

class SimulatorAdapter implements ProcessorAdapter {
  readonly kind = 'simulator';
  private readonly wire = new Wire();

  constructor(
    private readonly baseUrl: string,
    private readonly secret: Buffer | null,
  ) {}

  capabilities(connection: Connection): ProcessorCapabilities {
    const settle = connection.settings.settle_after_ms;
    return {
      idempotencyWindowMs: connection.settings.idempotency === false ? null : day,
      lookup: 'strong',
      settleAfterMs: typeof settle === 'number' ? settle : tenMinutes,
      list: true,
    };
  }

  async check(connection: Connection): Promise<CheckAnswer> {
    const asked = performance.now();
    const result = await this.get(connection, '/v1/payments?limit=1');
    const durationMs = Math.round(performance.now() - asked);
    if (answered(result, paymentList)) return { ok: true, detail: 'The simulator answers.', durationMs };
    return { ok: false, detail: failureOutcome(result).rawMessage ?? 'The simulator gave no answer.', durationMs };
  }

  parseCallback(connection: Connection, { headers, body, receivedAt }: InboundCallback): CallbackAnswer {
    if (!this.secret) return { kind: 'refused', reason: 'no secret is shared with the simulator' };
    const signed = { connectionId: connection.id, body, nowSeconds: Math.floor(receivedAt / 1_000) };
    const problem = signatureProblem(this.secret, headers[callbackSignatureHeader], signed);
    if (problem) return { kind: 'refused', reason: problem };
    const event = parseAs(callbackBody, Buffer.from(body).toString('utf8'));
    if (!event) return { kind: 'refused', reason: 'the body is not in the simulator\'s format' };
    return { kind: 'accepted', eventId: event.id, eventType: event.type, payment: toldPayment(event.payment) };
  }

  async list(connection: Connection, { since, until, cursor }: ListCall): Promise<ListAnswer> {
    const query = new URLSearchParams({ since, until, ...(cursor ? { after: cursor } : {}) });
    const result = await this.get(connection, `/v1/reports/payments?${query}`);
    const page = answered(result, toldPaymentList);
    if (page) return { ok: true, payments: page.data.map(toldPayment), nextCursor: page.next };
    return { ok: false, unavailable: failureOutcome(result).rawMessage ?? 'the simulator gave no answer' };
  }

  async authorize(connection: Connection, call: AuthorizeCall): Promise<PaymentOutcome> {
    const result = await this.post(connection, '/v1/payments', call, askedOutcome(connection, call.simulate), {
      reference: call.reference,
      amount: call.amountAtom,
      currency: call.currency,
      capture: call.capture,
      payment_method: call.theirPaymentMethodId,
      off_session: call.offSession,
      return_url: call.returnUrl ?? null,
      callback_url: call.callbackUrl ?? null,
      metadata: call.metadata ?? {},
    });
    const payment = answered(result, paymentAnswer);
    return payment ? paymentOutcome(payment, call) : failureOutcome(result);
  }

  async capture(connection: Connection, call: CaptureCall): Promise<OperationOutcome> {
    return this.operation(connection, `/v1/payments/${encodeURIComponent(call.processorPaymentId)}/capture`, call, sumOf(call));
  }

  async refund(connection: Connection, call: RefundCall): Promise<OperationOutcome> {
    return this.operation(connection, `/v1/payments/${encodeURIComponent(call.processorPaymentId)}/refunds`, call, sumOf(call));
  }

  async void(connection: Connection, call: VoidCall): Promise<OperationOutcome> {
    return this.operation(connection, '/v1/voids', call, {
      payment: call.processorPaymentId ?? null,
      payment_reference: call.paymentReference,
    });
  }

  async lookup(connection: Connection, call: LookupCall): Promise<LookupAnswer> {
    return call.operation === 'authorize' ? this.lookupPayment(connection, call) : this.lookupOperation(connection, call);
  }

  async tokenise(connection: Connection, call: TokeniseCall): Promise<TokeniseOutcome> {
    if (!('card' in call.source)) return { outcomeClass: 'processor_error', declineCode: 'misconfigured', rawMessage: 'the simulator takes cards only' };
    const { number, expMonth, expYear, cvc } = call.source.card;
    const result = await this.post(connection, '/v1/payment-methods', call, null, {
      card: { number, exp_month: expMonth, exp_year: expYear, cvc },
    });
    const method = answered(result, paymentMethodAnswer);
    if (!method) return failureOutcome(result);
    const { exp_month, exp_year, ...card } = method.card;
    return { outcomeClass: 'approved', theirPaymentMethodId: method.id, card: { ...card, expMonth: exp_month, expYear: exp_year } };
  }

  /** The connection's `settings.outcome` speaks for charges only: a method can be made where every charge will fail. */
  async verify(connection: Connection, call: VerifyCall): Promise<PaymentOutcome> {
    const asked = askedOutcome({ publicId: connection.publicId, settings: {} }, call.simulate);
    const body = { reference: call.reference, payment_method: call.theirPaymentMethodId, amount: call.amountAtom, currency: call.currency };
    const result = await this.post(connection, '/v1/verifications', call, asked, body);
    const verification = answered(result, verificationAnswer);
    if (!verification) return failureOutcome(result);
    if (verification.reference !== call.reference || verification.amount !== call.amountAtom || verification.currency !== call.currency) {
      return { outcomeClass: 'mismatch', processorPaymentId: verification.id, rawMessage: 'another verification was answered' };
    }
    const { id, network_transaction_id } = verification;
    return { outcomeClass: 'approved', processorPaymentId: id, networkTransactionId: network_transaction_id };
  }

  async close(): Promise<void> {
    await this.wire.close();
  }

  private async operation(connection: Connection, path: string, call: CallIdentity & Asked, fields: Fields): Promise<OperationOutcome> {
    const asked = askedOutcome({ publicId: connection.publicId, settings: {} }, call.simulate);
    const result = await this.post(connection, path, call, asked, { reference: call.reference, ...fields });
    const operation = answered(result, operationAnswer);
    if (!operation) return failureOutcome(result);
    if (operation.reference !== call.reference || (fields.amount !== undefined && operation.amount !== fields.amount)) {
      return { ...operationOutcome(operation), outcomeClass: 'mismatch', rawMessage: 'another reference or amount was answered' };
    }
    return operationOutcome(operation);
  }

  private async lookupPayment(connection: Connection, call: LookupCall): Promise<LookupAnswer> {
    const result = await this.get(connection, `/v1/payments?reference=${encodeURIComponent(call.reference)}`);
    const list = answered(result, paymentList);
    if (!list) return failedRead(failureOutcome(result));
    return foundPayment(list.data, (payment) => ({ outcome: paymentOutcome(payment, call), totals: totalsOf(payment, payment.disputed) }));
  }

  private async lookupOperation(connection: Connection, call: LookupCall): Promise<LookupAnswer> {
    const query = `reference=${encodeURIComponent(call.reference)}&kind=${call.operation}`;
    const result = await this.get(connection, `/v1/operations?${query}`);
    const list = answered(result, operationList);
    if (!list) return failedRead(failureOutcome(result));
    return foundOperation(list.data, call, (operation) => ({
      outcome: operationOutcome(operation),
      totals: operation.payment ? totalsOf(operation.payment, operation.payment.disputed) : null,
    }));
  }

  private post(connection: Connection, path: string, call: CallIdentity, asked: string | null, body: object): Promise<WireResult> {
    const headers: Record<string, string> = { ...identify(connection), 'content-type': 'application/json' };
    if (connection.settings.idempotency !== false) headers['idempotency-key'] = call.idempotencyKey;
    if (asked) headers['x-simulate'] = asked;
    const origin = asked === 'connection_refused' ? closedPort : this.baseUrl;
    return this.wire.exchange({ origin, path, method: 'POST', headers, body: JSON.stringify(body) }, connection.deadlines);
  }

  private get(connection: Connection, path: string): Promise<WireResult> {
    return this.wire.exchange({ origin: this.baseUrl, path, method: 'GET', headers: identify(connection) }, connection.deadlines);
  }
}

function identify(connection: Connection): Record<string, string> {
  return { authorization: `Bearer ${connection.id}` };
}
