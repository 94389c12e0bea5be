import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { Client, Connection } from '@temporalio/client';
import type { TestStack } from '../../apps/cli/src/stack/test-stack.js';
import { openReads } from './bare-route.js';
import { fellDueBefore, gather } from './crowd.js';
import { withInstance } from './instance.js';
import { load, paced } from './measure.js';
import { residentMiB } from './memory.js';
import { round, show, type Report } from './report.js';
import { setStage, until, type Stage } from './stage.js';
import { startSubprocess } from './subprocess.js';

const inline = { execution: 'inline' };
/** At least; how long before they fall due the first of them is made depends on it. */
const madePerSecond = 8;
const anHour = 3_600;

interface Options {
  quick: boolean;
}

export const renewalParts = ['ratio', 'burst', 'catch-up', 'sleepers'] as const;
export type RenewalPart = (typeof renewalParts)[number];

const withoutJitter = { SUBSCRIPTION_JITTER_SECONDS: '0' };
const measures: Record<RenewalPart, { extra: NodeJS.ProcessEnv; measure(report: Report, scene: Scene, options: Options): Promise<void> }> = {
  ratio: { extra: withoutJitter, measure: measureRate },
  burst: { extra: {}, measure: measureBurst },
  'catch-up': { extra: withoutJitter, measure: measureCatchUp },
  sleepers: { extra: {}, measure: measureAsleep },
};

/** Subscriptions by the thousand: all due in one second, with and without jitter, after an hour without workers, or asleep. */
export async function measureRenewals(name: RenewalPart, report: Report, options: Options): Promise<void> {
  const { extra, measure } = measures[name];
  await withInstance({ environments: ['staging'], extra }, async (stack) => {
    const stage = await setStage(stack);
    const connection = await Connection.connect({ address: stack.temporalAddress });
    await measure(report, { stage, stack, client: new Client({ connection, namespace: stack.namespace('staging') }) }, options);
    await connection.close();
    await stage.close();
  });
}

interface Scene {
  stage: Stage;
  stack: TestStack;
  client: Client;
}

/** Renewals a second, each with invoice, payment and events, in the engine's floors a second. */
async function measureRate(report: Report, { stage, stack, client }: Scene, { quick }: Options): Promise<void> {
  const worker = await startSubprocess('floor', { TEMPORAL_ADDRESS: stack.temporalAddress, BENCH_NAMESPACE: stack.namespace('staging') });
  const bare = async () => void (await client.workflow.execute('floor', { taskQueue: 'bench-floor', workflowId: `floor/${randomUUID()}` }));
  await load(bare, { callers: 8, operations: 100, seconds: 10 });
  const floor = await load(bare, { callers: 32, operations: 100_000, seconds: quick ? 5 : 12 });
  worker.stop();
  const count = quick ? 200 : 1000;
  const due = dueAfter(count);
  await gather(stage, client, { count, due });
  await at(due);
  const rate = count / secondsSince(due, await renewedAt(stage, { due, count }));
  report.add('renewals with invoice, payment and events', `${round(rate)}/s; the floor ${round(floor.rate)}/s`);
  report.add('renewals / floor', round(rate / floor.rate), '≥ 0.5', rate / floor.rate >= 0.5);
}

function secondsSince(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / 1000;
}

/** All due in the same second, charged within the usual minute of jitter, beside other payments. */
async function measureBurst(report: Report, { stage, client }: Scene, { quick }: Options): Promise<void> {
  const count = quick ? 200 : 1000;
  const due = dueAfter(count);
  await gather(stage, client, { count, due });
  await at(due);
  let over = false;
  const renewed = renewedAt(stage, { due, count }).finally(() => (over = true));
  const beside = await paced(async () => (over ? undefined : stage.pay(inline)), { perSecond: 10, seconds: 70 });
  const seconds = secondsSince(due, await renewed);
  report.add(`${count} due in the same second, with 60 s of jitter: all renewed after`, `${round(seconds)} s`, '≤ 120 s', seconds <= 120);
  report.add('other payments meanwhile, 10/s', show(beside), 'p99 ≤ 1000 ms, no error', beside.p99 <= 1000 && beside.errors === 0);
}

/** No worker from before they fall due until an hour later by their rows; then a new one. */
async function measureCatchUp(report: Report, { stage, stack, client }: Scene, { quick }: Options): Promise<void> {
  const count = quick ? 200 : 1000;
  const due = dueAfter(count);
  await gather(stage, client, { count, due });
  const worker = stack.child('worker-staging');
  await worker.stop();
  await at(new Date(due.getTime() + 2_000));
  await fellDueBefore(stage, anHour);
  const begin = new Date();
  await worker.start();
  const seconds = secondsSince(begin, await renewedAt(stage, { due: new Date(due.getTime() - anHour * 1000), count }));
  report.add(`${count} fell due in an hour without worker: all renewed after its start`, `${round(seconds)} s`, '≤ 60 s', seconds <= 60);
}

/** What sleeping subscriptions cost, once the worker holds as many workflows as it ever keeps. */
async function measureAsleep(report: Report, { stage, stack, client }: Scene, { quick }: Options): Promise<void> {
  const count = quick ? 500 : 10_000;
  const seen = async () => {
    await new Promise((resolve) => setTimeout(resolve, quick ? 5_000 : 20_000));
    const one = { callers: 1, operations: 300, seconds: 10 };
    const [bare, read, payment] = [await load(reads.bare, one), await load(reads.ours, one), await load(() => stage.pay(inline), one)];
    return { mib: residentMiB(stack.child('worker-staging').pid), bare, read, payment };
  };
  const reads = await openReads(stack, stage);
  await gather(stage, client, { count: 350, due: null });
  const before = await seen();
  await gather(stage, client, { count, due: null });
  const after = await seen();
  const of = (what: string) => `${what} with ${count} sleeping subscriptions more, and before`;
  report.add(of('worker memory'), `${round(after.mib)} MiB, ${round(before.mib)} MiB`, '× ≤ 1.3', after.mib / before.mib <= 1.3);
  /** A machine that has become slower answers the bare route more slowly as well. */
  const slower = Math.max(1, after.bare.p50 / before.bare.p50);
  report.add(of('bare route p50'), `${round(after.bare.p50)} ms, ${round(before.bare.p50)} ms`);
  for (const [name, key] of [['GET p50', 'read'], ['payment p50', 'payment']] as const) {
    const [now, then] = [after[key].p50, before[key].p50];
    report.add(of(name), `${round(now)} ms, ${round(then)} ms`, '× ≤ 1.3, by the bare route', now / then / slower <= 1.3);
  }
  await reads.close();
}

/** A second far enough ahead that `count` subscriptions sleep by then. */
function dueAfter(count: number): Date {
  return new Date((Math.ceil(Date.now() / 1000) + 20 + Math.ceil(count / madePerSecond)) * 1000);
}

async function at(time: Date): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, time.getTime() - Date.now())));
}

/** When the last of them was paid for the period that began at `due`. */
async function renewedAt(stage: Stage, { due, count }: { due: Date; count: number }): Promise<Date> {
  const ofPeriod = sql`i.account_id = ${stage.account.id} and i.period_start = ${due.toISOString()}::timestamptz and i.due_atom = 1000`;
  let last = due;
  await until(async () => {
    const { rows } = await stage.database.db.execute<{ count: number; last: Date | string }>(sql`
      select count(*)::int as count, max(i.paid_at) as last from invoices i where ${ofPeriod} and i.status = 'paid'`);
    if (rows[0]!.count < count) return false;
    last = new Date(rows[0]!.last);
    return true;
  }, { seconds: 600, everyMs: 500 });
  return last;
}
