import type { AttemptOutcome } from '../domain/payment/outcome.js';

export const processorKinds = ['simulator', 'stripe', 'http'] as const;
export type ProcessorKind = (typeof processorKinds)[number];

/** Upper limits of one call, in milliseconds. They outlive the caller of the API. */
export interface Deadlines {
  connectMs: number;
  totalMs: number;
}

/** One configured connection to a processor, its credentials opened. Never put it into a log or a workflow history. */
export interface Connection {
  /** The row's UUID. */
  id: string;
  /** `processor_…`, by which routes and simulator triggers name the connection. */
  publicId: string;
  kind: ProcessorKind;
  settings: Record<string, unknown>;
  credentials: Record<string, string> | null;
  deadlines: Deadlines;
}

/**
 * What makes a call single at the processor. Both come from business identity (subscription and period, or intent, and
 * attempt number), never from a random id, so that a restored backup repeats a call instead of making a second one.
 */
export interface CallIdentity {
  reference: string;
  idempotencyKey: string;
}

/** A charge. The object is JSON-safe: stored and sent again unchanged, it is byte for byte the same request. */
export interface AuthorizeCall extends CallIdentity {
  amountAtom: number;
  /** Lower-case ISO 4217. */
  currency: string;
  capture: 'automatic' | 'manual';
  theirPaymentMethodId: string;
  /** The customer is absent. */
  offSession: boolean;
  /** Of an earlier charge in the customer's presence, for unattended ones. */
  networkTransactionId?: string | null;
  /** `custom_fields.simulate`: an outcome's name, or one per connection. Adapters of real processors ignore it. */
  simulate?: string | Record<string, string> | null;
  metadata?: Record<string, string>;
  /** Where the processor sends the customer after a challenge. */
  returnUrl?: string | null;
  /** Where the processor posts what it learns later. */
  callbackUrl?: string | null;
  /** What `prepare` made, where the adapter has that step. */
  processorPaymentId?: string | null;
}

/** Captures part or all of an authorised amount; `amountAtom` is what this capture takes. */
export interface CaptureCall extends CallIdentity {
  processorPaymentId: string;
  amountAtom: number;
  currency: string;
  simulate?: AuthorizeCall['simulate'];
}

/** Cancels an authorisation or an unfinished challenge. By id where it is known, else by the charge's reference. */
export interface VoidCall extends CallIdentity {
  processorPaymentId?: string | null;
  paymentReference: string;
  simulate?: AuthorizeCall['simulate'];
}

export interface RefundCall extends CallIdentity {
  processorPaymentId: string;
  amountAtom: number;
  currency: string;
  simulate?: AuthorizeCall['simulate'];
}

/** Asks what became of an earlier call. `amountAtom` and `currency` are compared; a difference is `mismatch`. */
export interface LookupCall {
  operation: 'authorize' | 'capture' | 'void' | 'refund';
  /** The reference that the call carried. */
  reference: string;
  processorPaymentId?: string | null;
  amountAtom?: number | null;
  currency?: string | null;
}

export interface CardInput {
  number: string;
  expMonth: number;
  expYear: number;
  cvc: string;
}

/** Makes a reusable payment method at the processor. `token` is what the processor's browser library returned. */
export interface TokeniseCall extends CallIdentity {
  source: { card: CardInput } | { token: string };
  simulate?: AuthorizeCall['simulate'];
}

/** Authorises a payment method without charging it. */
export interface VerifyCall extends CallIdentity {
  theirPaymentMethodId: string;
  amountAtom: number;
  currency: string;
  simulate?: AuthorizeCall['simulate'];
}

/** What may be shown and stored of a card. */
export interface CardDescription {
  brand: string;
  last4: string;
  /** Issuer identification number: the first six digits; null where the processor keeps it. */
  iin: string | null;
  expMonth: number;
  expYear: number;
  funding: 'credit' | 'debit' | 'prepaid' | 'unknown';
  /** ISO 3166 alpha-2. */
  country: string | null;
  issuer: string | null;
  /** Equal for the same card at the same processor. */
  fingerprint: string;
}

/** Outcome of a charge; the amounts are the processor's own sums after the call. */
export interface PaymentOutcome extends AttemptOutcome {
  capturedAmountAtom?: number | null;
}

/** Outcome of capture, void or refund: `approved` means done, `pending` accepted, a decline class means not done. */
export interface OperationOutcome extends AttemptOutcome {
  /** The processor's id of the capture, void or refund. */
  processorOperationId?: string | null;
}

export interface TokeniseOutcome extends AttemptOutcome {
  theirPaymentMethodId?: string | null;
  card?: CardDescription | null;
}

/** `absent`: this read did not find it; what one such read proves depends on `capabilities.lookup`. */
export type LookupAnswer =
  | { found: 'yes'; outcome: PaymentOutcome & OperationOutcome; totals: PaymentTotals }
  | { found: 'absent' }
  | { found: 'unknown'; outcome: AttemptOutcome };

/** The processor's own sums of the payment, in atoms. */
export interface PaymentTotals {
  /** What was approved; stays when it is voided or refunded. */
  authorizedAmountAtom: number;
  capturedAmountAtom: number;
  refundedAmountAtom: number;
  voided: boolean;
  disputed: boolean;
}

/** What `prepare` made at the processor: `approved` means that it is there and takes no money by itself. */
export interface PrepareOutcome extends AttemptOutcome {
  processorPaymentId?: string | null;
}

/** Whether the credentials are accepted: read only, nothing is created. */
export interface CheckAnswer {
  ok: boolean;
  /** For a person: what was reached, or why not. Never a secret. */
  detail: string;
  /** Round trip in milliseconds. */
  durationMs: number;
}

/** A refund as the processor tells it. */
export interface ToldRefund {
  processorRefundId: string;
  /** The reference of our refund operation; null if it was made elsewhere (out of band). */
  reference: string | null;
  amountAtom: number;
  status: 'pending' | 'succeeded' | 'failed';
  failureMessage?: string | null;
}

/** A dispute as the processor tells it. */
export interface ToldDispute {
  processorDisputeId: string;
  reason: string | null;
  amountAtom: number | null;
  status: 'open' | 'won' | 'lost';
}

/** A payment as the processor tells it, by callback or in a list: a snapshot, possibly older than what we know. */
export interface ToldPayment {
  /** The reference of our attempt; null if the payment is not ours. */
  reference: string | null;
  processorPaymentId: string;
  /** What the attempt asked for; null where only a refund or a dispute of it was told. */
  amountAtom: number | null;
  /** Lower-case ISO 4217. */
  currency: string;
  /** What it says about the attempt; `unknown` if it says nothing. */
  outcome: PaymentOutcome;
  /** Sums that were not told are 0: none of them proves that less happened than is known. */
  totals: PaymentTotals;
  refunds: ToldRefund[];
  disputes: ToldDispute[];
  /** RFC 3339; when the processor made the payment. */
  createdAt: string | null;
}

export interface ListCall {
  /** RFC 3339, inclusive. */
  since: string;
  /** RFC 3339, exclusive. */
  until: string;
  cursor: string | null;
}

/** `unavailable`: the processor could not be read; nothing was learned. */
export type ListAnswer = { ok: true; payments: ToldPayment[]; nextCursor: string | null } | { ok: false; unavailable: string };

export interface InboundCallback {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The bytes as they came. */
  body: Uint8Array;
  /** Epoch milliseconds; the signature's age is counted to it. */
  receivedAt: number;
}

/** `refused`: missing, wrong or too old signature, or a body that is not in the processor's format. */
export type CallbackAnswer =
  | { kind: 'refused'; reason: string }
  /** `eventId` is the processor's: the same one again is the same event. `payment` is null for events of no interest. */
  | { kind: 'accepted'; eventId: string; eventType: string; payment: ToldPayment | null };

/** What an adapter promises; the resolution of unknown outcomes is built on it. */
export interface ProcessorCapabilities {
  /** How long a repeated key answers with the first result; null: never promised. */
  idempotencyWindowMs: number | null;
  /** `strong`: a read sees every call that was answered or applied before it. `none`: there is no lookup. */
  lookup: 'strong' | 'eventual' | 'none';
  /** How long after the last byte a call may still take effect. */
  settleAfterMs: number;
  /** Whether `list` can be asked, for reconciliation. */
  list: boolean;
}

/**
 * A processor kind. No method throws for anything that happened on the wire: it answers an outcome class. `not_sent`
 * only if no byte of the request was written; whatever is ambiguous (time-out, reset, 5xx, 408, 409, 425, 499, an answer
 * that is not in the processor's format) is `unknown`; other amount, currency or reference than asked is `mismatch`.
 * No method takes a cancellation signal: a call that began ends by its own deadlines only.
 */
export interface ProcessorAdapter {
  readonly kind: ProcessorKind;
  capabilities(connection: Connection): ProcessorCapabilities;
  /**
   * Only where the processor has no lookup by reference: makes the payment without taking money, so that its id is
   * stored before `authorize` confirms it. Repeating it with the same key makes no second one.
   */
  prepare?(connection: Connection, call: AuthorizeCall): Promise<PrepareOutcome>;
  authorize(connection: Connection, call: AuthorizeCall): Promise<PaymentOutcome>;
  capture(connection: Connection, call: CaptureCall): Promise<OperationOutcome>;
  void(connection: Connection, call: VoidCall): Promise<OperationOutcome>;
  refund(connection: Connection, call: RefundCall): Promise<OperationOutcome>;
  lookup(connection: Connection, call: LookupCall): Promise<LookupAnswer>;
  tokenise(connection: Connection, call: TokeniseCall): Promise<TokeniseOutcome>;
  verify(connection: Connection, call: VerifyCall): Promise<PaymentOutcome>;
  check(connection: Connection): Promise<CheckAnswer>;
  /** Payments of a time range, with their refunds and disputes; present exactly where `capabilities.list` is true. */
  list?(connection: Connection, call: ListCall): Promise<ListAnswer>;
  /** Verifies and reads what the processor posted. No I/O. */
  parseCallback(connection: Connection, callback: InboundCallback): CallbackAnswer;
  /** Ends idle sockets; running calls finish. */
  close(): Promise<void>;
}
