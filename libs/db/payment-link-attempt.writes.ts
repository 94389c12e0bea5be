import { and, count, eq, gt, inArray, lt, min, ne, sql, type SQL } from 'drizzle-orm';
import { retryAfter, windowStart, type Limit, type LinkLimits } from '../domain/payment-link/attempt-limit.js';
import type { Db, Tx } from './client.js';
import { newId } from './mint.js';
import { paymentIntents, paymentLinkAttempts, type PaymentLinkAttemptRow } from './schema/index.js';

export type AttemptOutcome = PaymentLinkAttemptRow['outcome'];

export interface NewAttempt {
  accountId: string;
  paymentLinkId: string;
  addressHash: string;
  methodHash: string;
  paymentIntentId: string;
  tryNumber: number;
}

export type AttemptStart = { kind: 'begun'; id: string } | { kind: 'repeated' } | { kind: 'limited'; retryAfterSeconds: number };

/** After so long a try without an intent never got as far as the money. */
const abandonedAfterMs = 60_000;

/** The two-key space of advisory locks; taken in this order, so that no two tries wait for each other. */
const locks = { link: 7_264_101, address: 7_264_102, method: 7_264_103 } as const;

/**
 * Counts a try before the card is used, one try at a time per link, address and card: of many at once exactly as many begin
 * as the limits leave. The same try sent twice is `repeated`.
 */
export async function beginAttempt(tx: Tx, attempt: NewAttempt, { limits, now }: { limits: LinkLimits; now: Date }): Promise<AttemptStart> {
  await lock(tx, locks.link, attempt.paymentLinkId);
  await lock(tx, locks.address, attempt.addressHash);
  await lock(tx, locks.method, attempt.methodHash);
  const [known] = await tx
    .select({ id: paymentLinkAttempts.id })
    .from(paymentLinkAttempts)
    .where(and(eq(paymentLinkAttempts.paymentIntentId, attempt.paymentIntentId), eq(paymentLinkAttempts.tryNumber, attempt.tryNumber)));
  if (known) return { kind: 'repeated' };
  const waits = [
    await waitFor(tx, limits.perLink, now, [eq(paymentLinkAttempts.paymentLinkId, attempt.paymentLinkId)]),
    await waitFor(tx, limits.perAddress, now, [eq(paymentLinkAttempts.addressHash, attempt.addressHash)]),
    await waitFor(tx, limits.perMethod, now, [
      eq(paymentLinkAttempts.accountId, attempt.accountId),
      eq(paymentLinkAttempts.methodHash, attempt.methodHash),
      ne(paymentLinkAttempts.outcome, 'succeeded'),
      ne(paymentLinkAttempts.outcome, 'refused'),
    ]),
  ].filter((wait) => wait !== null);
  if (waits.length > 0) return { kind: 'limited', retryAfterSeconds: Math.max(...waits) };
  const id = newId();
  await tx.insert(paymentLinkAttempts).values({ ...attempt, id, outcome: 'started', createdAt: now });
  return { kind: 'begun', id };
}

async function lock(tx: Tx, space: number, name: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${space}::int, hashtext(${name}))`);
}

async function waitFor(tx: Tx, limit: Limit, now: Date, where: SQL[]): Promise<number | null> {
  const [counted] = await tx
    .select({ count: count(), oldest: min(paymentLinkAttempts.createdAt) })
    .from(paymentLinkAttempts)
    .where(and(...where, gt(paymentLinkAttempts.createdAt, windowStart(limit, now))));
  return retryAfter(limit, { count: counted?.count ?? 0, oldest: counted?.oldest ?? null }, now);
}

export async function recordAttempt(tx: Tx, id: string, outcome: AttemptOutcome): Promise<void> {
  await tx.update(paymentLinkAttempts).set({ outcome }).where(and(eq(paymentLinkAttempts.id, id), inArray(paymentLinkAttempts.outcome, ['started', 'pending'])));
}

/**
 * Gives the link's open tries the outcome that their payment has by now: those that were still processing when the visitor
 * was answered, and those whose process died.
 */
export async function settleAttempts(tx: Tx, { paymentLinkId, now }: { paymentLinkId: string; now: Date }): Promise<void> {
  const open = and(eq(paymentLinkAttempts.paymentLinkId, paymentLinkId), inArray(paymentLinkAttempts.outcome, ['started', 'pending']));
  const rows = await tx
    .select({ id: paymentLinkAttempts.id, createdAt: paymentLinkAttempts.createdAt, status: paymentIntents.status, settled: paymentIntents.settled, declineCode: paymentIntents.declineCode })
    .from(paymentLinkAttempts)
    .leftJoin(paymentIntents, eq(paymentIntents.id, paymentLinkAttempts.paymentIntentId))
    .where(and(open, lt(paymentLinkAttempts.createdAt, new Date(now.getTime() - abandonedAfterMs))));
  for (const row of rows) {
    const outcome = outcomeOf(row);
    if (outcome) await recordAttempt(tx, row.id, outcome);
  }
}

function outcomeOf(row: { status: string | null; settled: boolean | null; declineCode: string | null }): AttemptOutcome | null {
  if (row.status === null || row.status === 'canceled') return 'refused';
  if (row.status === 'succeeded' || row.status === 'requires_capture') return 'succeeded';
  if (row.status !== 'requires_payment_method' || !row.settled) return null;
  return row.declineCode && row.declineCode !== 'no_processor_available' ? 'declined' : 'refused';
}

export interface TryState {
  /** The number that the next try of this form has. */
  next: number;
  latest: { outcome: AttemptOutcome; createdAt: Date } | null;
}

/** How often a form has been tried, and how the last try stands. */
export async function readTries(db: Db, paymentIntentId: string): Promise<TryState> {
  const rows = await db
    .select({ tryNumber: paymentLinkAttempts.tryNumber, outcome: paymentLinkAttempts.outcome, createdAt: paymentLinkAttempts.createdAt })
    .from(paymentLinkAttempts)
    .where(eq(paymentLinkAttempts.paymentIntentId, paymentIntentId));
  const latest = rows.reduce<(typeof rows)[number] | null>((last, row) => (last && last.tryNumber > row.tryNumber ? last : row), null);
  return { next: latest ? latest.tryNumber + 1 : 0, latest };
}
