import { and, eq, sql } from 'drizzle-orm';
import type { Db } from './client.js';
import { emails, type EmailRow } from './schema/index.js';

/** Longer than a try may take: a mail whose sender died is tried again then. */
const claimSeconds = 60;

/** Ids of mails that wait, are due and that nobody holds, the longest waiting first; locked. */
const dueIds = (limit: number) => sql`(select e.id from emails e where e.status = 'pending' and e.next_attempt_at <= clock_timestamp()
    and (e.claim_until is null or e.claim_until < clock_timestamp())
  order by e.next_attempt_at limit ${limit} for update skip locked)`;

/** Takes due mails, the longest waiting first; nobody else gets them for a minute. Each claim counts as a try. */
export async function claimEmails(db: Db, limit: number): Promise<EmailRow[]> {
  return db
    .update(emails)
    .set({
      claimUntil: sql`clock_timestamp() + make_interval(secs => ${claimSeconds})`,
      attempts: sql`${emails.attempts} + 1`,
      version: sql`${emails.version} + 1`,
    })
    .where(sql`${emails.id} in ${dueIds(limit)}`)
    .returning();
}

export type Handover =
  | { status: 'sent'; subject: string; messageId: string }
  | { status: 'failed' | 'not_sent'; reason: string; subject?: string }
  /** Tried again so many seconds later. */
  | { status: 'pending'; reason: string; retrySeconds: number; subject?: string };

/** What became of a claimed mail; nothing where somebody else has claimed it since. */
export async function recordHandover(db: Db, { id, attempts }: Pick<EmailRow, 'id' | 'attempts'>, result: Handover): Promise<void> {
  const next = result.status === 'pending' ? sql`clock_timestamp() + make_interval(secs => ${result.retrySeconds})` : null;
  await db
    .update(emails)
    .set({
      status: result.status,
      reason: result.status === 'sent' ? null : result.reason,
      ...(result.subject === undefined ? {} : { subject: result.subject }),
      ...(result.status === 'sent' ? { messageId: result.messageId, sentAt: sql`clock_timestamp()` } : {}),
      nextAttemptAt: next,
      claimUntil: null,
      version: sql`${emails.version} + 1`,
      updatedAt: sql`clock_timestamp()`,
    })
    .where(and(eq(emails.id, id), eq(emails.attempts, attempts), eq(emails.status, 'pending')));
}

/** Where no server is configured: what waits is not sent, and says why. Answers how many. */
export async function refuseEmails(db: Db, { reason, limit }: { reason: string; limit: number }): Promise<number> {
  const { rowCount } = await db.execute(sql`
    update emails set status = 'not_sent', reason = ${reason}, next_attempt_at = null, claim_until = null, version = version + 1, updated_at = clock_timestamp()
     where id in ${dueIds(limit)}`);
  return rowCount ?? 0;
}
