import type { LedgerOperation, LedgerPayment } from './ledger.js';

/** What a caller wrote down of one request. */
export interface Call {
  number: number;
  /** UUID of the account. */
  account: string;
  journey: string;
  method: string;
  path: string;
  key: string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
  /** Epoch milliseconds. */
  at: number;
  /** Null: no whole answer came. */
  status: number | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  answer: any;
  lost: string | null;
}

/** What a receiver wrote down of one post. */
export interface Heard {
  /** Public id of the endpoint, by its address. */
  endpoint: string;
  /** Order of arrival over all endpoints. */
  number: number;
  at: number;
  eventId: string;
  type: string;
  sequence: number;
  /** Public id of the object. */
  object: string;
  /** Whether the signature is that of the body. */
  verified: boolean;
  digest: string;
  /** The fields of `data` that the rules compare. */
  told: Told;
  /** What was answered; null: the connection was broken. */
  answered: number | null;
}

/** What an event or an answer says about an object, as far as the rules compare it. */
export interface Told {
  id: string;
  object: string;
  status: string | null;
  /** Outcome class of a charge. */
  outcome: string | null;
  amounts: Record<string, number | null>;
  processorPaymentId: string | null;
  processorRefundId: string | null;
  outOfBand: boolean;
}

export interface IntentRow {
  id: string;
  status: string;
  amount: number;
  capturable: number;
  received: number;
  refunded: number;
  currency: string;
  reference: string;
  invoice: string | null;
  metadata: Record<string, unknown> | null;
  driver: string;
  settled: boolean;
  version: number;
  /** Epoch milliseconds. */
  next_action: number | null;
  lease_until: number | null;
}

export interface ChargeRow {
  id: string;
  intent: string;
  processor: string;
  reference: string;
  status: string;
  outcome: string | null;
  amount: number;
  authorized: number;
  captured: number;
  refunded: number;
  currency: string;
  processor_payment: string | null;
  voided: boolean;
  late: boolean;
  next_lookup: number | null;
}

export interface OperationRow {
  id: string;
  intent: string;
  charge: string;
  type: 'capture' | 'void' | 'refund';
  purpose: string;
  amount: number;
  status: string;
  refund: string | null;
  reference: string;
  next_lookup: number | null;
}

export interface RefundRow {
  id: string;
  charge: string;
  intent: string;
  amount: number;
  status: string;
  out_of_band: boolean;
  processor_refund: string | null;
}

export interface EventRow {
  id: string;
  type: string;
  object: string;
  sequence: number;
  digest: string;
  told: Told;
  /** Epoch milliseconds. */
  created: number;
}

export interface DeliveryRow {
  id: string;
  event: string;
  endpoint: string;
  status: string;
}

export interface AttentionRow {
  type: string;
  object: string;
}

export interface EndpointRow {
  id: string;
  /** Epoch milliseconds. */
  created: number;
}

export interface InvoiceRow {
  id: string;
  subscription: string | null;
  status: string;
  due: number;
  paid: number;
  refunded: number;
  out_of_band: boolean;
  reason: string;
  /** Epoch milliseconds. */
  starts: number;
  ends: number;
}

export interface SubscriptionRow {
  id: string;
  status: string;
  billing_status: string | null;
  /** The invoice whose payment has no outcome yet. */
  charging: string | null;
  next_action: number | null;
}

export interface ClockRow {
  id: string;
  status: string;
  /** Why it failed. */
  reason: string | null;
  /** The subscription whose payment holds it. */
  waiting: string | null;
  /** Epoch milliseconds of the clock's own time: where it stands, and when its next member is due. */
  frozen: number;
  next_action: number | null;
}

/** The rows of one account. Ids are UUIDs unless said otherwise. */
export interface Books {
  account: string;
  intents: IntentRow[];
  charges: ChargeRow[];
  operations: OperationRow[];
  refunds: RefundRow[];
  invoices: InvoiceRow[];
  subscriptions: SubscriptionRow[];
  clocks: ClockRow[];
  events: EventRow[];
  deliveries: DeliveryRow[];
  endpoints: EndpointRow[];
  attention: AttentionRow[];
  /** Unapplied evidence: intents. */
  evidence: string[];
  /** Objects of other kinds that exist. */
  others: string[];
}

/** Everything known about one account, from four sides. */
export interface Records {
  calls: readonly Call[];
  payments: readonly LedgerPayment[];
  operations: readonly LedgerOperation[];
  heard: readonly Heard[];
  books: Books;
  /** Payment intents (UUIDs) whose workflow runs; null: not asked. */
  driven: ReadonlySet<string> | null;
  /** Epoch milliseconds of the reading. */
  readAt: number;
}

export interface Breach {
  rule: number;
  what: string;
  /** Public ids and references that lead to it. */
  ids: string[];
}

export type Rule = (records: Records) => Breach[];
