import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { newId } from './mint.js';
import { attentionItems, charges, reconciliations, type ReconciliationRow } from './schema/index.js';

/** How long a run is left alone by other workers without a sign of life. */
const claimSeconds = 20;
const claimEnd = sql`clock_timestamp() + ${sql.raw(`interval '${claimSeconds} seconds'`)}`;

export type NewReconciliation = Pick<ReconciliationRow, 'id' | 'accountId' | 'processorId' | 'since' | 'until'> & {
  supported: boolean;
  night?: string | null;
  /** The caller runs it: no worker takes it up. */
  claimed?: boolean;
};

/** A run that some worker takes up, or that has its end already where the processor cannot list. */
export async function openReconciliation(tx: Db | Tx, { supported, claimed, ...values }: NewReconciliation): Promise<ReconciliationRow | null> {
  const now = new Date();
  const status = supported ? ('running' as const) : ('not_supported' as const);
  const row = { ...values, status, startedAt: now, finishedAt: supported ? null : now, claimedUntil: claimed ? (claimEnd as never) : null };
  const [inserted] = await tx.insert(reconciliations).values(row).onConflictDoNothing().returning();
  return inserted ?? null;
}

/** Whether one that was asked for is under way for the connection. */
export async function isReconciling(tx: Tx, processorId: string): Promise<boolean> {
  const running = and(eq(reconciliations.processorId, processorId), eq(reconciliations.status, 'running'), isNull(reconciliations.night));
  return (await tx.select({ id: reconciliations.id }).from(reconciliations).where(running).limit(1)).length > 0;
}

export interface NightlyRange {
  /** `2030-01-31`: one run per connection and night, however many workers ask. */
  night: string;
  since: Date;
  until: Date;
}

/** Opens tonight's run of every connection of these kinds that is not deleted, or was only within the range. */
export async function openNightly(db: Db, kinds: string[], { night, since, until }: NightlyRange): Promise<number> {
  const { rows } = await db.execute<{ account_id: string; id: string }>(sql`
    select p.account_id, p.id from payment_processors p
     where p.kind = any(${sql.param(kinds)}::text[]) and (p.deleted_at is null or p.deleted_at > ${since.toISOString()}::timestamptz)
       and exists (select 1 from charges c where c.processor_id = p.id and c.created_at < ${until.toISOString()}::timestamptz)
       and not exists (select 1 from reconciliations r where r.processor_id = p.id and r.night = ${night})`);
  for (const row of rows) await openReconciliation(db, { id: newId(), accountId: row.account_id, processorId: row.id, since, until, supported: true, night });
  return rows.length;
}

/** The oldest run that nobody works on; the caller has it until it stops renewing. */
export async function claimReconciliation(db: Db): Promise<ReconciliationRow | null> {
  const { rows } = await db.execute<{ id: string }>(sql`
    update reconciliations set claim_token = claim_token + 1, claimed_until = ${claimEnd}
     where id = (select r.id from reconciliations r
                  where r.status = 'running' and (r.claimed_until is null or r.claimed_until < clock_timestamp())
                  order by r.id limit 1 for update skip locked)
    returning id`);
  if (!rows[0]) return null;
  const [row] = await db.select().from(reconciliations).where(eq(reconciliations.id, rows[0].id));
  return row ?? null;
}

/** While a page takes long. */
export async function renewClaim(db: Db, run: ReconciliationRow): Promise<void> {
  await db
    .update(reconciliations)
    .set({ claimedUntil: claimEnd as never })
    .where(and(eq(reconciliations.id, run.id), eq(reconciliations.claimToken, run.claimToken)));
}

export type RunPatch = Partial<Pick<ReconciliationRow, 'cursor' | 'compared' | 'differences' | 'details' | 'status' | 'finishedAt'>>;

/** Writes how far the run is. Null: another worker has taken it over, and nothing was written. */
export async function advanceReconciliation(tx: Db | Tx, run: ReconciliationRow, patch: RunPatch): Promise<ReconciliationRow | null> {
  const [row] = await tx
    .update(reconciliations)
    .set({ ...patch, claimedUntil: claimEnd as never })
    .where(and(eq(reconciliations.id, run.id), eq(reconciliations.claimToken, run.claimToken), eq(reconciliations.status, 'running')))
    .returning();
  return row ?? null;
}

/** These charges were found at their processor; those that agree need nobody any more. */
export async function markReconciled(db: Db, seen: { chargeIds: string[]; agreeing: string[] }, at: Date): Promise<void> {
  if (seen.chargeIds.length > 0) await db.update(charges).set({ reconciledAt: at }).where(inArray(charges.id, seen.chargeIds));
  if (seen.agreeing.length === 0) return;
  await db
    .update(attentionItems)
    .set({ resolvedAt: at, resolvedBy: 'system', resolution: 'Both sides agree.' })
    .where(and(eq(attentionItems.type, 'reconciliation_difference'), inArray(attentionItems.objectId, seen.agreeing), isNull(attentionItems.resolvedAt)));
}
