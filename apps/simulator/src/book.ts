import { createHash, randomUUID } from 'node:crypto';
import { testCards, type TestCard } from '../../../libs/processors/simulator/test-card.js';
import type { Cause, LedgerEntry, LedgerFact, MethodRecord, OperationRecord, PaymentRecord } from './ledger-entry.js';
import type { Ledger } from './ledger.js';

export function fingerprintOf(number: string): string {
  return createHash('sha256').update(`simulated card ${number}`).digest('hex').slice(0, 24);
}

const cardByFingerprint = new Map(testCards.map((card) => [fingerprintOf(card.number), card]));

export function mint(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`;
}

function push<T>(index: Map<string, T[]>, key: string, value: T): void {
  const list = index.get(key);
  if (list) list.push(value);
  else index.set(key, [value]);
}

/** What the ledger says, by id, reference and key. Rebuilt from the file at start; changed only by recorded facts. */
export class Book {
  readonly payments = new Map<string, PaymentRecord>();
  private readonly methods = new Map<string, MethodRecord>();
  private readonly causes = new Map<string, { fact: LedgerFact; cause: Cause }>();
  private readonly paymentIdsByReference = new Map<string, string[]>();
  private readonly operationsByReference = new Map<string, OperationRecord[]>();
  private readonly entriesByReference = new Map<string, LedgerEntry[]>();
  private readonly closedReferences = new Set<string>();
  private readonly settling = new Set<string>();

  constructor(private readonly ledger: Ledger) {
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
    const ids = this.paymentIdsByReference.get(scoped(connection, reference)) ?? [];
    return ids.map((id) => this.payments.get(id)!);
  }

  paymentsOf(connection: string): PaymentRecord[] {
    return [...this.payments.values()].filter((payment) => payment.connection === connection);
  }

  operations(connection: string, reference: string): OperationRecord[] {
    return this.operationsByReference.get(scoped(connection, reference)) ?? [];
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
        this.record({ type: 'payment_changed', reason: 'disputed', record: { ...payment, disputed: true, settles: null } });
      } else {
        const settled = payment.settles.to === 'approved' ? approved(payment, payment.amount) : declined(payment, 'do_not_honor');
        this.record({ type: 'payment_changed', reason: 'settled', record: settled });
      }
    }
  }

  private apply(entry: LedgerEntry): void {
    push(this.entriesByReference, referenceOf(entry), entry);
    if ('cause' in entry && entry.cause.key !== null) {
      this.causes.set(scoped(entry.record.connection, entry.cause.key), { fact: entry, cause: entry.cause });
    }
    if (entry.type === 'payment_method') this.methods.set(entry.record.id, entry.record);
    if (entry.type === 'payment' || entry.type === 'payment_changed') this.put(entry.record);
    if (entry.type === 'operation') this.applyOperation(entry.record);
  }

  private put(payment: PaymentRecord): void {
    if (!this.payments.has(payment.id)) push(this.paymentIdsByReference, scoped(payment.connection, payment.reference), payment.id);
    this.payments.set(payment.id, payment);
    if (payment.settles) this.settling.add(payment.id);
    else this.settling.delete(payment.id);
  }

  private applyOperation(operation: OperationRecord): void {
    push(this.operationsByReference, scoped(operation.connection, operation.reference), operation);
    if (operation.kind === 'void') this.closedReferences.add(scoped(operation.connection, operation.payment_reference));
    const payment = operation.payment === null ? null : this.payments.get(operation.payment);
    if (!payment) return;
    this.put(afterwards(payment, operation));
  }
}

function scoped(connection: string, name: string): string {
  return `${connection}\n${name}`;
}

function referenceOf(entry: LedgerEntry): string {
  if (entry.type === 'without_effect') return entry.reference;
  if (entry.type === 'payment_method') return entry.record.id;
  return entry.record.reference;
}

export function approved(payment: PaymentRecord, amount: number): PaymentRecord {
  const captured = payment.capture === 'automatic';
  return {
    ...payment,
    status: captured ? 'captured' : 'authorized',
    amount_authorized: amount,
    amount_captured: captured ? amount : 0,
    network_transaction_id: payment.network_transaction_id ?? mint('ntid'),
    settles: null,
  };
}

export function declined(payment: PaymentRecord, code: string): PaymentRecord {
  return { ...payment, status: 'declined', decline_code: code, settles: null };
}

/** The payment once an operation has been applied to it. */
export function afterwards(payment: PaymentRecord, operation: Pick<OperationRecord, 'kind' | 'amount'>): PaymentRecord {
  if (operation.kind === 'capture') return { ...payment, status: 'captured', amount_captured: payment.amount_captured + operation.amount };
  if (operation.kind === 'refund') return { ...payment, amount_refunded: payment.amount_refunded + operation.amount };
  return payment.status === 'declined' ? payment : { ...payment, status: 'voided', settles: null };
}
