import { sql, type SQL } from 'drizzle-orm';
import { raiseAttention } from './attention.writes.js';
import type { Db } from './client.js';

interface Watch {
  type: string;
  kind: string;
  /** Selects `account_id, object_id, since` of what deserves a line; told by the database's clock. */
  found: SQL;
  /** Condition on `a` (an open line): what it told of is over. */
  over: SQL;
  resolution: string;
  reason: (since: Date) => string;
  /** After a start, workers get so long to catch up before anything is late. */
  graceSeconds?: number;
}

const free = sql`(p.lease_until is null or p.lease_until < clock_timestamp())`;
const overdue = sql`not p.settled and ${free} and (p.next_action_at < clock_timestamp() - interval '5 minutes'
  or (p.driver = 'api' and p.updated_at < clock_timestamp() - interval '5 minutes')
  or (p.next_action_at is null and p.status = 'processing' and p.stopped_at is null and p.updated_at < clock_timestamp() - interval '5 minutes'
    and not exists (select 1 from customers c where c.id = p.customer_id and c.test_clock_id is not null)))`;
const unknown = sql`c.status = 'pending' and (c.outcome_class is null or c.outcome_class = 'unknown')`;
const unapplied = sql`b.applied_at is null and b.payment_intent_id is not null`;
const unsent = sql`e.status = 'pending' and e.reason is not null and e.created_at < clock_timestamp() - interval '1 hour'`;

const lateSubscription = sql`s.status <> 'cancelled' and s.test_clock_id is null and s.next_action_at < clock_timestamp() - interval '5 minutes'`;
const leftDraft = sql`i.status = 'draft' and i.billing_reason <> 'manual' and s.status <> 'cancelled' and s.billing_status = 'current'`;

/** What nobody raises when it happens, because it is the passing of time that makes it worth a line. */
const watches: readonly Watch[] = [
  {
    type: 'payment_unknown',
    kind: 'pi',
    found: sql`select c.account_id, c.payment_intent_id as object_id, c.first_sent_at as since from charges c
      join payment_intents p on p.id = c.payment_intent_id
      where ${unknown} and c.first_sent_at < clock_timestamp() - interval '1 hour' and p.status <> 'exception'`,
    over: sql`not exists (select 1 from charges c join payment_intents p on p.id = c.payment_intent_id
      where c.payment_intent_id = a.object_id and ${unknown} and p.status <> 'exception')`,
    resolution: 'The outcome became known.',
    reason: (since) => `Nobody knows since ${since.toISOString()} whether the money was taken.`,
  },
  {
    type: 'operation_unresolved',
    kind: 'pi',
    found: sql`select o.account_id, o.payment_intent_id as object_id, o.first_sent_at as since from charge_operations o
      where o.status = 'pending' and o.processor_operation_id is null and o.first_sent_at < clock_timestamp() - interval '1 hour'`,
    over: sql`not exists (select 1 from charge_operations o where o.payment_intent_id = a.object_id and o.status = 'pending' and o.first_sent_at is not null)`,
    resolution: 'The outcome became known.',
    reason: (since) => `A capture, void or refund has no outcome since ${since.toISOString()}.`,
  },
  {
    type: 'payment_overdue',
    kind: 'pi',
    found: sql`select p.account_id, p.id as object_id, coalesce(p.next_action_at, p.updated_at) as since from payment_intents p where ${overdue}`,
    over: sql`not exists (select 1 from payment_intents p where p.id = a.object_id and ${overdue})`,
    resolution: 'It moved on.',
    reason: (since) => `It should have moved on at ${since.toISOString()} and did not: look at the workers and at its workflow.`,
  },
  {
    type: 'subscription_overdue',
    kind: 'sub',
    found: sql`select s.account_id, s.id as object_id, s.next_action_at as since from subscriptions s where ${lateSubscription}`,
    over: sql`not exists (select 1 from subscriptions s where s.id = a.object_id and ${lateSubscription})`,
    resolution: 'It moved on.',
    reason: (since) => `What was due at ${since.toISOString()} has not happened, though its workflow was woken: look at the workers and at its workflow.`,
    graceSeconds: 300,
  },
  {
    type: 'callback_unapplied',
    kind: 'pi',
    found: sql`select b.account_id, b.payment_intent_id as object_id, min(b.received_at) as since from processor_callbacks b
      where ${unapplied} and b.received_at < clock_timestamp() - interval '5 minutes' group by 1, 2`,
    over: sql`not exists (select 1 from processor_callbacks b where b.payment_intent_id = a.object_id and ${unapplied})`,
    resolution: 'It was applied.',
    reason: (since) => `What its processor told at ${since.toISOString()} could not be applied yet.`,
  },
  {
    type: 'refund_failed',
    kind: 're',
    found: sql`select r.account_id, r.id as object_id, r.updated_at as since from refunds r
      where r.status = 'failed' and r.updated_at > clock_timestamp() - interval '7 days'
        and not exists (select 1 from attention_items a where a.type = 'refund_failed' and a.object_id = r.id)`,
    over: sql`exists (select 1 from refunds r join refunds later on later.charge_id = r.charge_id and later.id > r.id
      where r.id = a.object_id and later.status = 'succeeded' and later.amount_atom >= r.amount_atom)`,
    resolution: 'A later refund of the charge was made.',
    reason: () => 'The refund failed: the customer does not have the money.',
  },
  {
    type: 'emails_failing',
    kind: 'acct',
    found: sql`select e.account_id, e.account_id as object_id, min(e.created_at) as since from emails e where ${unsent} group by 1`,
    over: sql`not exists (select 1 from emails e where e.account_id = a.object_id and ${unsent})`,
    resolution: 'The e-mails were handed over, or given up.',
    reason: (since) => `E-mails to customers wait since ${since.toISOString()}: the SMTP server does not take them.`,
  },
  {
    type: 'drafts_left',
    kind: 'sub',
    found: sql`select s.account_id, s.id as object_id, min(i.created_at) as since from invoices i
      join subscriptions s on s.id = i.subscription_id where ${leftDraft}
        and not exists (select 1 from attention_items a where a.type = 'drafts_left' and a.object_id = s.id and a.resolved_by <> 'system' and a.id > i.id)
      group by 1, 2`,
    over: sql`not exists (select 1 from invoices i join subscriptions s on s.id = i.subscription_id where s.id = a.object_id and ${leftDraft})`,
    resolution: 'No draft is left.',
    reason: (since) => `It is paid again, but what was billed since ${since.toISOString()} while it was unpaid are drafts, which nobody collects: finalise and pay each one, or void it.`,
  },
];

const most = 200;

interface Watching {
  isStopped?: () => boolean;
  /** How long this worker has been running. */
  upSeconds?: number;
}

/** Raises the lines that time makes due and closes those that are over. Safe in several workers at once. */
export async function watchAttention(db: Db, { isStopped = () => false, upSeconds = Infinity }: Watching = {}): Promise<void> {
  for (const watch of watches) {
    if (isStopped()) return;
    if (upSeconds >= (watch.graceSeconds ?? 0)) await raise(db, watch);
    await db.execute(sql`update attention_items a set resolved_at = clock_timestamp(), resolved_by = 'system', resolution = ${watch.resolution}
      where a.type = ${watch.type} and a.resolved_at is null and ${watch.over}`);
  }
  await countWaiting(db);
}

async function raise(db: Db, { type, kind, found, reason }: Watch): Promise<void> {
  const { rows } = await db.execute<{ account_id: string; object_id: string; since: string }>(sql`
    select f.* from (${found}) f
     where not exists (select 1 from attention_items a where a.type = ${type} and a.object_id = f.object_id and a.resolved_at is null) limit ${most}`);
  if (rows.length === 0) return;
  await db.transaction(async (tx) => {
    for (const row of rows) {
      const since = new Date(row.since);
      const line = { accountId: row.account_id, type, kind, objectId: row.object_id, reason: reason(since), actions: [] };
      await raiseAttention(tx, { ...line, details: { since: since.toISOString() } }, new Date());
    }
  });
}

/** How much is parked stands on the stop's own line. */
async function countWaiting(db: Db): Promise<void> {
  await db.execute(sql`
    update attention_items a set details = jsonb_build_object('waiting_payments', w.waiting)
      from (select s.id, (select count(*) from payment_intents p where p.account_id = s.account_id and p.stopped_at is not null and s.id = any(p.stopped_by)) as waiting
              from charge_stops s where s.lifted_at is null) w
     where a.type = 'charge_stop' and a.object_id = w.id and a.resolved_at is null
       and a.details is distinct from jsonb_build_object('waiting_payments', w.waiting)`);
}
