import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import type { PaymentDriver } from '../domain/payment/payment-status.js';
import type { Db } from './client.js';
import { paymentIntents, type PaymentIntentRow } from './schema/index.js';

/** How long a lease lasts without renewal; by Postgres' clock alone. */
export const leaseSeconds = 5;
const until = sql.raw(`clock_timestamp() + interval '${leaseSeconds} seconds'`);

export type TakenLease =
  | { taken: true; intent: PaymentIntentRow }
  /** Somebody else holds it; `retryInMs` until it would expire. */
  | { taken: false; intent: PaymentIntentRow | null; retryInMs: number };

/** Takes the payment's lease if it is free; raises the fencing token, so that an earlier holder can write nothing more. */
export async function takeLease(db: Db, intentId: string, who: { owner: string; driver: PaymentDriver }): Promise<TakenLease> {
  const [intent] = await db
    .update(paymentIntents)
    .set({
      leaseToken: sql`${paymentIntents.leaseToken} + 1`,
      leaseUntil: sql`${until}` as never,
      leaseOwner: who.owner,
      ...(who.driver === 'workflow' ? { driver: 'workflow' as const } : {}),
    })
    .where(
      and(
        eq(paymentIntents.id, intentId),
        eq(paymentIntents.settled, false),
        or(isNull(paymentIntents.leaseUntil), lt(paymentIntents.leaseUntil, sql`clock_timestamp()`)),
      ),
    )
    .returning();
  if (intent) return { taken: true, intent };
  const [found] = await db
    .select({
      intent: paymentIntents,
      retryInMs: sql<number>`greatest(0, extract(epoch from (lease_until - clock_timestamp())) * 1000)::int`,
    })
    .from(paymentIntents)
    .where(eq(paymentIntents.id, intentId));
  return { taken: false, intent: found?.intent ?? null, retryInMs: found?.retryInMs ?? 0 };
}

/**
 * Renews every lease named with its token; answers with the intents whose lease is still the caller's. Locks by id, as every
 * transaction does that writes several payments.
 */
export async function renewLeases(db: Db, leases: readonly { intentId: string; token: number }[]): Promise<Set<string>> {
  const ids = leases.map((lease) => lease.intentId);
  const tokens = leases.map((lease) => lease.token);
  const { rows } = await db.execute<{ id: string }>(sql`
    with mine as (
      select p.id
        from payment_intents p
        join unnest(${sql.param(ids)}::uuid[], ${sql.param(tokens)}::bigint[]) as held(id, token) on p.id = held.id
       where p.lease_token = held.token and p.lease_until is not null
       order by p.id
         for no key update of p)
    update payment_intents p set lease_until = ${until} from mine where p.id = mine.id
    returning p.id`);
  return new Set(rows.map((row) => row.id));
}

/** The payment has its workflow: the sweeper looks for it no longer. Needs no lease. */
export async function giveToWorkflow(db: Db, intentId: string): Promise<void> {
  await db
    .update(paymentIntents)
    .set({ driver: 'workflow' })
    .where(and(eq(paymentIntents.id, intentId), eq(paymentIntents.driver, 'api')));
}

export interface Rest {
  /** The wake count that the holder has taken into account. */
  seenWake: number;
  settled: boolean;
  nextActionAt: Date | null;
}

/** Gives the lease back unless somebody woke the payment meanwhile; false: read again, the work is not over. */
export async function releaseLease(db: Db, lease: { intentId: string; token: number }, rest: Rest): Promise<boolean> {
  const rows = await db
    .update(paymentIntents)
    .set({ leaseUntil: null, settled: rest.settled, nextActionAt: rest.nextActionAt })
    .where(
      and(
        eq(paymentIntents.id, lease.intentId),
        eq(paymentIntents.leaseToken, lease.token),
        eq(paymentIntents.wakeSeq, rest.seenWake),
      ),
    )
    .returning({ id: paymentIntents.id });
  return rows.length > 0;
}
