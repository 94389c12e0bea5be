import { answered, failedRead, foundOperation, foundPayment, parseAs } from '../payment-reading.js';
import type {
  AuthorizeCall,
  CallbackAnswer,
  CallIdentity,
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
import type { WireResult } from '../wire.js';
import {
  callbackShape,
  checkShape,
  contractVersion,
  operationListShape,
  operationShape,
  paymentListShape,
  paymentMethodShape,
  paymentPageShape,
  paymentShape,
  verificationShape,
} from './http.contract.js';
import { failureOutcome, operationOutcome, paymentOutcome, paymentTotals, toldPayment } from './http.outcome.js';
import { HttpPeer, secretsOf } from './http.peer.js';
import type { PeerPolicy } from './http.settings.js';
import { signatureHeader, verify } from './http.signature.js';

type OperationFields = { amount?: number; currency?: string; payment?: string | null; payment_reference?: string };

const tenMinutes = 600_000;
const day = 86_400_000;
const pageSize = 100;
const longestPage = 4 * 1024 * 1024;

/** Providers of the user's own, by the contract of `contract.openapi.json`. */
export function createHttpAdapter(policy: PeerPolicy): ProcessorAdapter {
  return new HttpAdapter(new HttpPeer(policy));
}

class HttpAdapter implements ProcessorAdapter {
  readonly kind = 'http';

  constructor(private readonly peer: HttpPeer) {}

  /** What the contract demands, unless the connection's settings promise less. */
  capabilities({ settings }: Connection): ProcessorCapabilities {
    const { idempotency_window_ms: window, settle_after_ms: settle, lookup } = settings;
    return {
      idempotencyWindowMs: window === null || window === 0 ? null : typeof window === 'number' ? window : day,
      lookup: lookup === 'eventual' || lookup === 'none' ? lookup : 'strong',
      settleAfterMs: typeof settle === 'number' ? settle : tenMinutes,
      list: settings.list === true,
    };
  }

  async authorize(connection: Connection, call: AuthorizeCall): Promise<PaymentOutcome> {
    const result = await this.post(connection, '/payments', call, {
      amount: call.amountAtom,
      currency: call.currency,
      capture: call.capture,
      payment_method: call.theirPaymentMethodId,
      off_session: call.offSession,
      network_transaction_id: call.networkTransactionId ?? null,
      return_url: call.returnUrl ?? null,
      callback_url: call.callbackUrl ?? null,
      metadata: call.metadata ?? {},
    });
    const payment = answered(result, paymentShape);
    if (!payment) return failureOutcome(result);
    const outcome = paymentOutcome(payment, call);
    if (payment.status !== 'voided' || outcome.outcomeClass === 'mismatch') return outcome;
    return { ...outcome, outcomeClass: 'processor_error', declineCode: 'processing_error', rawMessage: 'voided at the provider' };
  }

  async capture(connection: Connection, call: CaptureCall): Promise<OperationOutcome> {
    return this.operation(connection, `${paymentPath(call)}/captures`, call, { amount: call.amountAtom, currency: call.currency });
  }

  async refund(connection: Connection, call: RefundCall): Promise<OperationOutcome> {
    return this.operation(connection, `${paymentPath(call)}/refunds`, call, { amount: call.amountAtom, currency: call.currency });
  }

  async void(connection: Connection, call: VoidCall): Promise<OperationOutcome> {
    return this.operation(connection, '/voids', call, { payment: call.processorPaymentId ?? null, payment_reference: call.paymentReference });
  }

  async lookup(connection: Connection, call: LookupCall): Promise<LookupAnswer> {
    if (this.capabilities(connection).lookup === 'none') return { found: 'unknown', outcome: { outcomeClass: 'unknown', rawMessage: 'no look-ups here' } };
    const query = `reference=${encodeURIComponent(call.reference)}`;
    if (call.operation === 'authorize') {
      const result = await this.get(connection, `/payments/by-reference?${query}`);
      const list = answered(result, paymentListShape);
      if (!list) return failedRead(failureOutcome(result));
      return foundPayment(list.data, (payment) => ({ outcome: paymentOutcome(payment, call), totals: paymentTotals(payment) }));
    }
    const result = await this.get(connection, `/operations?${query}&kind=${call.operation}`);
    const list = answered(result, operationListShape);
    if (!list) return failedRead(failureOutcome(result));
    return foundOperation(list.data, call, (operation) => ({
      outcome: operationOutcome(operation),
      totals: operation.payment && paymentTotals(operation.payment),
    }));
  }

  async tokenise(connection: Connection, call: TokeniseCall): Promise<TokeniseOutcome> {
    if (!('token' in call.source)) return { outcomeClass: 'processor_error', declineCode: 'payment_method_not_supported', rawMessage: 'tokens only' };
    const result = await this.post(connection, '/payment-methods', call, { token: call.source.token });
    const method = answered(result, paymentMethodShape);
    if (!method) return failureOutcome(result);
    if (!method.card) return { outcomeClass: 'approved', theirPaymentMethodId: method.id, card: null };
    const { exp_month, exp_year, ...card } = method.card;
    return { outcomeClass: 'approved', theirPaymentMethodId: method.id, card: { ...card, expMonth: exp_month, expYear: exp_year } };
  }

  async verify(connection: Connection, call: VerifyCall): Promise<PaymentOutcome> {
    const asked = { payment_method: call.theirPaymentMethodId, amount: call.amountAtom, currency: call.currency };
    const result = await this.post(connection, '/verifications', call, asked);
    const verification = answered(result, verificationShape);
    if (!verification) return failureOutcome(result);
    const { id, reference, amount, currency, network_transaction_id } = verification;
    const same = reference === call.reference && amount === call.amountAtom && currency === call.currency;
    if (!same) return { outcomeClass: 'mismatch', processorPaymentId: id, rawMessage: 'another verification was answered' };
    return { outcomeClass: 'approved', processorPaymentId: id, networkTransactionId: network_transaction_id };
  }

  async check(connection: Connection): Promise<CheckAnswer> {
    const asked = performance.now();
    const result = await this.get(connection, '/check');
    const durationMs = Math.round(performance.now() - asked);
    const told = answered(result, checkShape);
    if (!told) return { ok: false, detail: failureOutcome(result).rawMessage ?? 'The provider gave no answer in the contract\'s format.', durationMs };
    if (told.contract !== contractVersion) return { ok: false, detail: `It speaks version ${told.contract} of the contract, not ${contractVersion}.`, durationMs };
    return { ok: true, detail: `${told.name} answers, signed with our secret.`, durationMs };
  }

  async list(connection: Connection, { since, until, cursor }: ListCall): Promise<ListAnswer> {
    const query = new URLSearchParams({ since, until, limit: String(pageSize), ...(cursor ? { cursor } : {}) });
    const result = await this.peer.exchange(reachOf(connection), { method: 'GET', path: `/payments?${query}`, longestAnswer: longestPage });
    const page = answered(result, paymentPageShape);
    if (!page) return { ok: false, unavailable: failureOutcome(result).rawMessage ?? 'no answer in the contract\'s format' };
    return { ok: true, payments: page.data.map(toldPayment), nextCursor: page.next_cursor };
  }

  parseCallback(connection: Connection, { headers, body, receivedAt }: InboundCallback): CallbackAnswer {
    const nowSeconds = Math.floor(receivedAt / 1000);
    const verdict = verify(headers[signatureHeader], { kind: 'callback', body }, { secrets: secretsOf(connection), nowSeconds });
    if (!verdict.valid) return { kind: 'refused', reason: verdict.reason };
    const event = parseAs(callbackShape, Buffer.from(body).toString('utf8'));
    if (!event) return { kind: 'refused', reason: 'the body is not a callback of the contract' };
    return { kind: 'accepted', eventId: event.id, eventType: event.type, payment: event.payment && toldPayment(event.payment) };
  }

  async close(): Promise<void> {
    await this.peer.close();
  }

  private async operation(connection: Connection, path: string, call: CallIdentity, fields: OperationFields): Promise<OperationOutcome> {
    const result = await this.post(connection, path, call, fields);
    const operation = answered(result, operationShape);
    if (!operation) return failureOutcome(result);
    const outcome = operationOutcome(operation);
    const same = operation.reference === call.reference && (fields.amount === undefined || operation.amount === fields.amount);
    return same ? outcome : { ...outcome, outcomeClass: 'mismatch', rawMessage: 'another reference or amount was answered' };
  }

  private post(connection: Connection, path: string, { reference, idempotencyKey }: CallIdentity, fields: object): Promise<WireResult> {
    return this.peer.exchange(reachOf(connection), { method: 'POST', path, idempotencyKey, body: { reference, ...fields } });
  }

  private get(connection: Connection, path: string): Promise<WireResult> {
    return this.peer.exchange(reachOf(connection), { method: 'GET', path });
  }
}

function reachOf(connection: Connection) {
  return { baseUrl: connection.settings.base_url, secrets: secretsOf(connection), deadlines: connection.deadlines };
}

function paymentPath(call: CaptureCall | RefundCall): string {
  return `/payments/${encodeURIComponent(call.processorPaymentId)}`;
}
