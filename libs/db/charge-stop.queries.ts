import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { chargeStops, paymentIntents, type ChargeStopRow, type PaymentIntentRow } from './schema/index.js';

/** What a payment is for, as far as stops are concerned. */
export type StopTarget = Pick<PaymentIntentRow, 'accountId' | 'invoiceId' | 'paymentLinkId'>;

/** A stop that stands over a payment: over the account, one connection, or one of the prices that it collects. */
export interface StandingStop {
  id: string;
  scope: ChargeStopRow['scope'];
  object_id: string;
}

/** Condition on `charge_stops s`: it stands and its scope holds the payment, at any connection or at the one given. */
function stands({ accountId, invoiceId, paymentLinkId }: StopTarget, processorId?: string): SQL {
  const processor = processorId === undefined ? sql`s.scope = 'processor'` : sql`(s.scope = 'processor' and s.object_id = ${processorId}::uuid)`;
  return sql`s.account_id = ${accountId} and s.lifted_at is null and (s.scope = 'account' or ${processor} or (s.scope = 'price' and (
    exists (select 1 from invoice_items i where i.invoice_id = ${invoiceId}::uuid and i.price_id = s.object_id)
    or exists (select 1 from payment_link_items l where l.payment_link_id = ${paymentLinkId}::uuid and l.price_id = s.object_id))))`;
}

/** Stops that stand over the payment, at any connection; as JSON, for a select list. */
export function standingStops(target: StopTarget): SQL {
  return sql`(select json_agg(json_build_object('id', s.id, 'scope', s.scope, 'object_id', s.object_id)) from charge_stops s where ${stands(target)})`;
}

/** Whether no attempt may begin at this connection; for a select or returning list. */
export function isStopped(target: StopTarget, processorId: string): SQL<boolean> {
  return sql<boolean>`exists (select 1 from charge_stops s where ${stands(target, processorId)})`;
}

export async function findStop(db: Db | Tx, accountId: string, id: string): Promise<ChargeStopRow | null> {
  const [row] = await db.select().from(chargeStops).where(and(eq(chargeStops.accountId, accountId), eq(chargeStops.id, id)));
  return row ?? null;
}

/** How many payments wait for each of these stops. */
export async function waitingFor(db: Db | Tx, accountId: string, stopIds: string[]): Promise<Map<string, number>> {
  if (stopIds.length === 0) return new Map();
  const { rows } = await db.execute<{ id: string; waiting: number }>(sql`
    select s.id, count(p.id)::int as waiting
      from unnest(${sql.param(stopIds)}::uuid[]) as s(id)
      left join payment_intents p on p.account_id = ${accountId} and p.stopped_at is not null and s.id = any(p.stopped_by)
     group by s.id`);
  return new Map(rows.map((row) => [row.id, row.waiting]));
}

/** Whether a payment still waits for the stop. */
export async function someWait(db: Db | Tx, { accountId, id }: Pick<ChargeStopRow, 'accountId' | 'id'>): Promise<boolean> {
  const rows = await db
    .select({ id: paymentIntents.id })
    .from(paymentIntents)
    .where(and(eq(paymentIntents.accountId, accountId), sql`stopped_at is not null and ${id}::uuid = any(stopped_by)`))
    .limit(1);
  return rows.length > 0;
}

/**
 * Transactions that had begun when this was called have ended (or `withinMs` have passed): what they did not see of a stop
 * is now visible to whoever reads.
 */
export async function settleEarlierWrites(db: Db, withinMs = 5_000): Promise<void> {
  const { rows: [mark] } = await db.execute<{ upto: string }>(sql`select pg_snapshot_xmax(pg_current_snapshot())::text as upto`);
  const deadline = performance.now() + withinMs;
  for (;;) {
    const { rows } = await db.execute<{ over: boolean }>(sql`select pg_snapshot_xmin(pg_current_snapshot()) >= ${mark!.upto}::xid8 as over`);
    if (rows[0]?.over || performance.now() > deadline) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
