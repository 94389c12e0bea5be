import { readFileSync } from 'node:fs';

/** A payment at the provider, added up from its ledger's facts alone. */
export interface LedgerPayment {
  id: string;
  /** UUID of our connection: its token at the provider. */
  connection: string;
  reference: string;
  status: 'authorized' | 'captured' | 'declined' | 'pending' | 'requires_action' | 'voided';
  amount: number;
  authorized: number;
  captured: number;
  refunded: number;
  currency: string;
}

export interface LedgerOperation {
  id: string;
  connection: string;
  kind: 'capture' | 'void' | 'refund';
  reference: string;
  payment: string | null;
  amount: number;
  status: 'pending' | 'succeeded' | 'failed';
  /** Made by a person at the provider. */
  outOfBand: boolean;
}

interface Fact {
  seq?: number;
  type: string;
  event?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  record?: any;
}

export interface Ledger {
  payments: LedgerPayment[];
  operations: LedgerOperation[];
}

/** Reads the provider's append-only file. Operations are added up here, not by the provider's own code. */
export function readLedger(path: string): Ledger {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return addUp(lines.map((line) => JSON.parse(line) as Fact));
}

/** How many things that happened at the provider it has not been able to tell us yet. */
export function untold(path: string): number {
  const facts = readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line) as Fact);
  const told = new Set(facts.map(({ event }) => event));
  const asks = ({ type, record }: Fact): boolean =>
    type === 'payment_changed' || type === 'operation_changed' || type === 'dispute' || (type === 'operation' && record.out_of_band === true);
  return facts.filter((fact) => asks(fact) && !told.has(`sim_evt_${fact.seq}`)).length;
}

export function addUp(facts: readonly Fact[]): Ledger {
  const payments = new Map<string, LedgerPayment>();
  const operations = new Map<string, LedgerOperation>();
  for (const { type, record } of facts) {
    if (type === 'payment' || type === 'payment_changed') payments.set(record.id, paymentOf(record));
    if (type !== 'operation' && type !== 'operation_changed') continue;
    const operation = operationOf(record);
    const wasDone = operations.get(operation.id)?.status === 'succeeded';
    const isDone = operation.status === 'succeeded';
    operations.set(operation.id, operation);
    const payment = operation.payment === null ? undefined : payments.get(operation.payment);
    if (payment && isDone && !wasDone) payments.set(payment.id, afterwards(payment, operation));
    if (payment && wasDone && !isDone) payments.set(payment.id, { ...payment, refunded: payment.refunded - operation.amount });
  }
  return { payments: [...payments.values()], operations: [...operations.values()] };
}

function operationOf(record: Record<string, unknown>): LedgerOperation {
  const { id, connection, kind, reference, payment, amount, status = 'succeeded', out_of_band: outOfBand = false } = record;
  return { id, connection, kind, reference, payment, amount, status, outOfBand } as LedgerOperation;
}

function paymentOf(record: Record<string, unknown>): LedgerPayment {
  const { id, connection, reference, status, amount, amount_authorized, amount_captured, amount_refunded, currency } = record;
  return { id, connection, reference, status, amount, authorized: amount_authorized, captured: amount_captured, refunded: amount_refunded, currency } as LedgerPayment;
}

function afterwards(payment: LedgerPayment, { kind, amount }: LedgerOperation): LedgerPayment {
  if (kind === 'capture') return { ...payment, status: 'captured', captured: payment.captured + amount };
  if (kind === 'refund') return { ...payment, refunded: payment.refunded + amount };
  return payment.status === 'declined' ? payment : { ...payment, status: 'voided' };
}

/** What the provider holds of the customer's money, or has set aside for us. */
export function holdsMoney(payment: LedgerPayment): boolean {
  return payment.status === 'authorized' || (payment.status === 'captured' && payment.captured > payment.refunded);
}

/** It may still become money. */
export function isOpen(payment: LedgerPayment): boolean {
  return payment.status === 'pending' || payment.status === 'requires_action';
}
