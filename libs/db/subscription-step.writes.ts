import type { Change } from '../domain/change/change.js';
import { factsAfter, isPlain } from '../domain/subscription/facts-after.js';
import type { Plan } from '../domain/subscription/plan.js';
import { planStepUntil } from '../domain/subscription/step-until.js';
import { planStep } from '../domain/subscription/step-subscription.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { isStale, orFail, type Statement } from './batch.js';
import { transact } from './change.js';
import type { Db, Tx } from './client.js';
import { collect, NeedsTransaction } from './deferred.js';
import { sameSubscribers, tellTogether } from './event.writes.js';
import { invoiceFactsOf, noAttempt } from './invoice.queries.js';
import { withNumber } from './invoice.writes.js';
import { derivedId } from './mint.js';
import { readStanding, type Standing } from './subscription-standing.queries.js';
import { ownTime } from './subscription-time.writes.js';
import { applyPlan, lockSubscription, settledOutcome, unchanged, writePlan, type InvoicePayments, type WriteResult, type Writing } from './subscription.writes.js';
import { readFacts } from './subscription.queries.js';
import { runFrom } from './subscription-run.queries.js';
import { tickTestClock } from './test-clock.writes.js';
import { writeNumbered, writeTogether } from './together.js';
import type { SubscriptionRow } from './schema/index.js';

/** `acted`: something was written; `rests`: and nothing more is due, as far as it was read. */
export type StepResult = WriteResult & { acted: boolean; rests?: boolean };

/** So often a plan is made anew when somebody was faster; then under the row's lock. */
const unlockedTries = 3;

/**
 * The next due fact, if there is one, in a transaction of its own; its command is derived from the row's version, so it never takes
 * effect twice. A charge that is due with its renewal begins in the same transaction. Reads without a lock: the write finds the
 * version that was read, or the step is planned anew.
 */
export async function stepSubscription(db: Db, origin: Change, subscriptionId: string, writing: Writing): Promise<StepResult> {
  for (let tries = 0; tries < unlockedTries; tries += 1) {
    const standing = await readStanding(db, { accountId: origin.accountId, subscriptionId }, writing.clock);
    if (!standing) throw notFound('subscription');
    const { row, facts, intents } = standing;
    if (row.testClockId !== null || row.status === 'cancelled') break;
    const plan = planStep(row, facts);
    if (!plan) return resting(origin, row, intents);
    try {
      return await write(db, origin, { standing, plan, payments: writing.payments });
    } catch (error) {
      if (!isStale(error) && !(error instanceof DomainError && error.code === 'version_conflict')) throw error;
    }
  }
  return transact(db, origin, (tx) => stepUnderLock(tx, origin, subscriptionId, writing));
}

function resting(origin: Change, row: SubscriptionRow, intents: Standing['intents']): StepResult {
  const intentId = row.chargingInvoiceId === null ? null : (intents.get(row.chargingInvoiceId) ?? null);
  return { ...settledOutcome(runFrom(row, origin, intentId)), acted: false };
}

interface Steps {
  standing: Standing;
  plan: Plan;
  payments: InvoicePayments;
}

/** What only adds rows or changes the subscription's own is written with others' at the same time; the rest under locks of its own. */
async function write(db: Db, origin: Change, steps: Steps): Promise<StepResult> {
  const { standing: { facts }, plan } = steps;
  if (isPlain(plan, facts) && plan.attention === null && plan.upcoming === null) {
    try {
      return await writeAtOnce(db, origin, steps);
    } catch (error) {
      if (!(error instanceof NeedsTransaction)) throw error;
    }
  }
  return transact(db, origin, (tx) => tellTogether(tx, origin, () => writeSteps(tx, origin, steps)));
}

async function writeAtOnce(db: Db, origin: Change, steps: Steps): Promise<StepResult> {
  const { standing: { row, footing }, plan } = steps;
  const { accountId } = origin;
  const told = (tx: Tx) => tellTogether(tx, origin, () => writeSteps(tx, origin, steps), footing);
  const guards = [sameSubscribers(accountId, footing.subscribers)];
  if (!plan.invoice || plan.invoice.status === 'draft') {
    const { result, statements, afterwards } = await collect(told);
    await writeTogether(db, [...guards, ...statements], row.id);
    afterwards();
    return result;
  }
  let done: (() => StepResult) | undefined;
  await writeNumbered(db, {
    accountId,
    guards: [...guards, lockedVersion(row)],
    order: row.id,
    write: async (number) => {
      const { result, statements, afterwards } = await collect((tx) => withNumber(tx, number, () => told(tx)));
      done = () => {
        afterwards();
        return result;
      };
      return statements;
    },
  });
  return done!();
}

function lockedVersion({ id, version }: SubscriptionRow): Statement {
  return orFail({ text: 'select id from subscriptions where id = $1 and version = $2 for no key update', values: [id, version] }, []);
}

/** The plan, and the charge that is due with it. */
async function writeSteps(tx: Tx, origin: Change, { standing, plan, payments }: Steps): Promise<StepResult> {
  const { row, facts, items, intents } = standing;
  const change = (version: number) => ({ ...origin, commandId: commandOf(row.id, version) });
  const first = await applyPlan(tx, change(row.version), { before: row, row: { ...row, ...plan.next }, plan, facts, payments, known: { items, intents } });
  const after = factsAfter(facts, plan, first.row, first.invoice && invoiceFactsOf(first.invoice.row, noAttempt, false));
  const next = after && planStep(first.row, after);
  if (!after || !next?.charge) return { ...first.result, acted: true, rests: after !== null && next === null };
  const known = { items, intents: new Map([...intents, ...(first.invoice ? [[first.invoice.row.id, null] as const] : [])]), fresh: first.invoice };
  const second = await applyPlan(tx, change(first.row.version), { before: first.row, row: { ...first.row, ...next.next }, plan: next, facts: after, payments, known });
  return { ...second.result, advance: [...first.result.advance, ...second.result.advance], acted: true };
}

/** The same under the row's lock. With `until` its test clock moves on to what is due by then. */
export async function stepUnderLock(tx: Tx, origin: Change, subscriptionId: string, writing: Writing): Promise<StepResult> {
  const row = await lockSubscription(tx, origin.accountId, subscriptionId);
  const asked: Change = { ...origin, commandId: commandOf(subscriptionId, row.version) };
  const { change, clock } = await ownTime(tx, asked, { testClockId: row.testClockId, clock: writing.clock });
  const known = await readFacts(tx, row, clock);
  const step = planStepUntil(row, known, writing.until ?? known.now);
  if (!step) return { ...(await unchanged(tx, change, row)), acted: false };
  const { plan, facts } = step;
  if (writing.until && !(await tickTestClock(tx, row.testClockId!, facts.now))) throw new DomainError('conflict', 'The test clock does not advance.');
  const at = row.testClockId ? { ...change, clockTime: facts.now.toISOString() } : change;
  const result = await writePlan(tx, at, { before: row, row: { ...row, ...plan.next }, plan, facts, payments: writing.payments });
  return { ...result, acted: true };
}

function commandOf(subscriptionId: string, version: number): string {
  return derivedId('subscription', subscriptionId, version);
}
