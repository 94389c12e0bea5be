import { createHash } from 'node:crypto';
import { testCards, type TestCard } from '../../../libs/processors/simulator/test-card.js';
import type { Cause, DisputeRecord, LedgerEntry, LedgerFact, MethodRecord, OperationRecord, PaymentRecord } from './ledger-entry.js';
import type { Ledger } from './ledger.js';
import { afterwards, approved, declined, openDispute, statusOf, takenBack } from './payment.changes.js';

export function fingerprintOf(number: string): string {
  return createHash('sha256').update(`simulated card ${number}`).digest('hex').slice(0, 24);
}

const cardByFingerprint = new Map(testCards.map((card) => [fingerprintOf(card.number), card]));

function push<T>(index: Map<string, T[]>, key: string, value: T): void {
  const list = index.get(key);
  if (list) list.push(value);
  else index.set(key, [value]);
}

/** What the ledger says, by id, reference and key. Rebuilt from the file at start; changed only by recorded facts. */
export class Book {
  readonly payments = new Map<string, PaymentRecord>();
  readonly operationById = new Map<string, OperationRecord>();
  readonly disputes = new Map<string, DisputeRecord>();
  /** RFC 3339, by the payment's id. */
  readonly createdAt = new Map<string, string>();
  private readonly methods = new Map<string, MethodRecord>();
  private readonly causes = new Map<string, { fact: LedgerFact; cause: Cause }>();
  private readonly paymentIdsByReference = new Map<string, string[]>();
  private readonly paymentIdsByConnection = new Map<string, string[]>();
  private readonly operationIdsByReference = new Map<string, string[]>();
  private readonly operationIdsByPayment = new Map<string, string[]>();
  private readonly disputeIdsByPayment = new Map<string, string[]>();
  private readonly entriesByReference = new Map<string, LedgerEntry[]>();
  private readonly closedReferences = new Set<string>();
  private readonly settling = new Set<string>();
  private readonly settlingOperations = new Set<string>();

  /** `onEntry` sees each entry once the book knows it, those of the file too. */
  constructor(
    private readonly ledger: Ledger,
    private readonly onEntry: (entry: LedgerEntry, book: Book) => void = () => undefined,
  ) {
    for (const entry of ledger.entries) this.apply(entry);
  }

  record(fact: LedgerFact): void {
    this.apply(this.ledger.append(fact));
  }

  durable(): Promise<void> {
    return this.ledger.durable();
  }

  method(id: string): MethodRecord | null {
    return this.methods.get(id) ?? null;
  }

  cardOf(method: MethodRecord): TestCard {
    const card = cardByFingerprint.get(method.fingerprint);
    if (!card) throw new Error(`no test card has the fingerprint ${method.fingerprint}`);
    return card;
  }

  /** The earlier request with this key on this connection, if it took effect. */
  causeOf(connection: string, key: string | null): { fact: LedgerFact; cause: Cause } | null {
    return key === null ? null : (this.causes.get(scoped(connection, key)) ?? null);
  }

  paymentsByReference(connection: string, reference: string): PaymentRecord[] {
    return this.known(this.paymentIdsByReference.get(scoped(connection, reference)), this.payments);
  }

  paymentsOf(connection: string): PaymentRecord[] {
    return this.known(this.paymentIdsByConnection.get(connection), this.payments);
  }

  operations(connection: string, reference: string): OperationRecord[] {
    return this.known(this.operationIdsByReference.get(scoped(connection, reference)), this.operationById);
  }

  refundsOf(payment: string): OperationRecord[] {
    return this.known(this.operationIdsByPayment.get(payment), this.operationById).filter((operation) => operation.kind === 'refund');
  }

  disputesOf(payment: string): DisputeRecord[] {
    return this.known(this.disputeIdsByPayment.get(payment), this.disputes);
  }

  isClosed(connection: string, reference: string): boolean {
    return this.closedReferences.has(scoped(connection, reference));
  }

  entries(reference: string | undefined): LedgerEntry[] {
    return reference === undefined ? this.ledger.entries : (this.entriesByReference.get(reference) ?? []);
  }

  /** Lets time do what it was going to do. */
  settle(now: number): void {
    for (const id of this.settling) {
      const payment = this.payments.get(id)!;
      if (!payment.settles || payment.settles.at > now) continue;
      if (payment.settles.to === 'disputed') {
        this.record({ type: 'dispute', record: openDispute(payment, { amount: payment.amount_captured, reason: 'fraudulent' }) });
      } else {
        const settled = payment.settles.to === 'approved' ? approved(payment, payment.amount) : declined(payment, 'do_not_honor');
        this.record({ type: 'payment_changed', reason: 'settled', record: settled });
      }
    }
    for (const id of this.settlingOperations) {
      const operation = this.operationById.get(id)!;
      if (operation.settles && operation.settles.at <= now) this.record({ type: 'operation_changed', record: settledOperation(operation) });
    }
  }

  private known<T>(ids: string[] | undefined, rows: ReadonlyMap<string, T>): T[] {
    return (ids ?? []).map((id) => rows.get(id)!);
  }

  private apply(entry: LedgerEntry): void {
    push(this.entriesByReference, referenceOf(entry), entry);
    if ('cause' in entry && entry.cause.key !== null) {
      this.causes.set(scoped(entry.record.connection, entry.cause.key), { fact: entry, cause: entry.cause });
    }
    if (entry.type === 'payment_method') this.methods.set(entry.record.id, entry.record);
    if (entry.type === 'payment') this.createdAt.set(entry.record.id, entry.at);
    if (entry.type === 'payment' || entry.type === 'payment_changed') this.put(entry.record);
    if (entry.type === 'operation' || entry.type === 'operation_changed') this.putOperation(entry.record);
    if (entry.type === 'dispute') this.putDispute(entry.record);
    this.onEntry(entry, this);
  }

  private put(payment: PaymentRecord): void {
    if (!this.payments.has(payment.id)) {
      push(this.paymentIdsByReference, scoped(payment.connection, payment.reference), payment.id);
      push(this.paymentIdsByConnection, payment.connection, payment.id);
    }
    this.payments.set(payment.id, payment);
    if (payment.settles) this.settling.add(payment.id);
    else this.settling.delete(payment.id);
  }

  private putOperation(operation: OperationRecord): void {
    const before = this.operationById.get(operation.id);
    this.operationById.set(operation.id, operation);
    if (!before) {
      push(this.operationIdsByReference, scoped(operation.connection, operation.reference), operation.id);
      if (operation.payment !== null) push(this.operationIdsByPayment, operation.payment, operation.id);
      if (operation.kind === 'void') this.closedReferences.add(scoped(operation.connection, operation.payment_reference));
    }
    if (operation.settles) this.settlingOperations.add(operation.id);
    else this.settlingOperations.delete(operation.id);
    const payment = operation.payment === null ? null : this.payments.get(operation.payment);
    if (!payment) return;
    const wasDone = before !== undefined && statusOf(before) === 'succeeded';
    const isDone = statusOf(operation) === 'succeeded';
    if (isDone && !wasDone) this.put(afterwards(payment, operation));
    if (wasDone && !isDone) this.put(takenBack(payment, operation));
  }

  private putDispute(dispute: DisputeRecord): void {
    if (!this.disputes.has(dispute.id)) push(this.disputeIdsByPayment, dispute.payment, dispute.id);
    this.disputes.set(dispute.id, dispute);
    const payment = this.payments.get(dispute.payment)!;
    const disputed = this.disputesOf(payment.id).some((each) => each.status !== 'won');
    const settles = payment.settles?.to === 'disputed' ? null : payment.settles;
    this.put({ ...payment, disputed, settles });
  }
}

function settledOperation(operation: OperationRecord): OperationRecord {
  const failed = operation.settles!.to === 'failed';
  return { ...operation, status: operation.settles!.to, settles: null, failure_message: failed ? 'The bank account of the card is closed.' : null };
}

function scoped(connection: string, name: string): string {
  return `${connection}\n${name}`;
}

function referenceOf(entry: LedgerEntry): string {
  if (entry.type === 'without_effect' || entry.type === 'callback_delivered') return entry.reference;
  if (entry.type === 'payment_method') return entry.record.id;
  if (entry.type === 'operation' || entry.type === 'operation_changed') return entry.record.reference || entry.record.payment_reference;
  return entry.record.reference;
}
