import { and, asc, eq, gt, gte, isNull, lt, or, sql } from 'drizzle-orm';
import type { OurSide } from '../domain/reconciliation/compare.js';
import type { Db, Tx } from './client.js';
import { charges, reconciliations, type ChargeRow, type ReconciliationRow } from './schema/index.js';

export async function findReconciliation(db: Db | Tx, accountId: string, id: string): Promise<ReconciliationRow | null> {
  const [row] = await db.select().from(reconciliations).where(and(eq(reconciliations.accountId, accountId), eq(reconciliations.id, id)));
  return row ?? null;
}

/** A charge with what is needed to compare it. */
export interface KnownCharge extends OurSide {
  id: string;
  paymentIntentId: string;
  reference: string;
  processorPaymentId: string | null;
}

interface KnownRow extends Record<string, unknown> {
  id: string;
  payment_intent_id: string;
  reference: string;
  processor_payment_id: string | null;
  status: OurSide['status'];
  amount: string;
  currency: string;
  captured: string;
  refunded: string;
  voided: boolean;
  disputed: boolean;
  busy: boolean;
}

/** The connection's charges that carry one of the references, or one of the processor's ids. */
export async function knownCharges(db: Db, processorId: string, named: { references: string[]; paymentIds: string[] }): Promise<KnownCharge[]> {
  const { rows } = await db.execute<KnownRow>(sql`
    select c.id, c.payment_intent_id, c.reference, c.processor_payment_id, c.status, c.amount_atom::text as amount, c.currency,
           c.captured_atom::text as captured, c.voided_at is not null as voided, c.disputed,
           coalesce((select sum(r.amount_atom) from refunds r where r.charge_id = c.id and r.status = 'succeeded'
                      and (not r.refunded_out_of_band or r.processor_refund_id is not null)), 0)::text as refunded,
           c.status = 'pending'
             or exists (select 1 from charge_operations o where o.charge_id = c.id and o.status = 'pending')
             or exists (select 1 from refunds r where r.charge_id = c.id and r.status = 'pending') as busy
      from charges c
     where c.processor_id = ${processorId}
       and (c.reference = any(${sql.param(named.references)}::text[]) or c.processor_payment_id = any(${sql.param(named.paymentIds)}::text[]))`);
  return rows.map((row) => ({
    id: row.id,
    paymentIntentId: row.payment_intent_id,
    reference: row.reference,
    processorPaymentId: row.processor_payment_id,
    status: row.status,
    amountAtom: Number(row.amount),
    currency: row.currency,
    capturedAtom: Number(row.captured),
    refundedAtom: Number(row.refunded),
    voided: row.voided,
    disputed: row.disputed,
    unresolved: row.busy,
  }));
}

/** Successful charges of the range that this run has not seen at the processor, by id. */
export async function unseenCharges(db: Db, run: ReconciliationRow, page: { after: string | null; from: Date; to: Date; limit: number }): Promise<ChargeRow[]> {
  return db
    .select()
    .from(charges)
    .where(
      and(
        eq(charges.accountId, run.accountId),
        eq(charges.processorId, run.processorId),
        eq(charges.status, 'succeeded'),
        gte(charges.createdAt, page.from),
        lt(charges.createdAt, page.to),
        or(isNull(charges.reconciledAt), lt(charges.reconciledAt, run.startedAt)),
        page.after === null ? undefined : gt(charges.id, page.after),
      ),
    )
    .orderBy(asc(charges.id))
    .limit(page.limit);
}
