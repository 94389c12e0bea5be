import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import { Client, Connection } from '@temporalio/client';
import { startTestStack, type TestStack } from '../../apps/cli/src/stack/test-stack.js';
import { load, paced } from './measure.js';
import { residentMiB } from './memory.js';
import { round, show, type Report } from './report.js';
import { setStage, until, type Stage } from './stage.js';
import { startSubprocess } from './subprocess.js';

const dist = fileURLToPath(new URL('../..', import.meta.url));
const customersPerRun = 50;
const creators = 16;
/** At least; how long before they fall due the first of them is made depends on it. */
const createdPerSecond = 10;
const fourWeeksMs = 28 * 86_400_000;
const inline = { execution: 'inline' };

interface Options {
  quick: boolean;
}

/** Subscriptions by the thousand: all due in one second, after an hour without workers, and asleep. */
export async function measureRenewals(report: Report, options: Options): Promise<void> {
  await withStage({ SUBSCRIPTION_JITTER_SECONDS: '0' }, (stage, stack) => measureRate(report, stage, stack, options));
  await withStage({}, (stage) => measureBurst(report, stage, options));
  await withStage({ SUBSCRIPTION_JITTER_SECONDS: '0' }, (stage, stack) => measureCatchUp(report, stage, stack, options));
  await withStage({}, (stage, stack) => measureAsleep(report, stage, stack, options));
}

async function withStage(extra: NodeJS.ProcessEnv, measure: (stage: Stage, stack: TestStack) => Promise<void>): Promise<void> {
  const stack = await startTestStack(dist, { environments: ['staging'], extra });
  try {
    const stage = await setStage(stack);
    await measure(stage, stack);
    await stage.close();
  } finally {
    await stack.remove();
  }
}

/** Renewals a second, each with invoice, payment and events, in the engine's floors a second. */
async function measureRate(report: Report, stage: Stage, stack: TestStack, { quick }: Options): Promise<void> {
  const worker = await startSubprocess('floor', { TEMPORAL_ADDRESS: stack.temporalAddress, BENCH_NAMESPACE: stack.namespace('staging') });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const client = new Client({ connection, namespace: stack.namespace('staging') });
  const bare = async () => void (await client.workflow.execute('floor', { taskQueue: 'bench-floor', workflowId: `floor/${randomUUID()}` }));
  await load(bare, { callers: 8, operations: 100, seconds: 10 });
  const floor = await load(bare, { callers: 32, operations: 100_000, seconds: quick ? 5 : 12 });
  const count = quick ? 200 : 1000;
  const due = await subscribeMany(stage, { count, secondsAhead: quick ? 20 : 60 });
  await at(due);
  const rate = count / (await secondsUntilRenewed(stage, { due, count }));
  report.add('renewals with invoice, payment and events', `${round(rate)}/s; the floor ${round(floor.rate)}/s`);
  report.add('renewals / floor', round(rate / floor.rate), '≥ 0.5', rate / floor.rate >= 0.5);
  worker.stop();
  await connection.close();
}

/** All due in the same second, charged within the usual minute of jitter, beside other payments. */
async function measureBurst(report: Report, stage: Stage, { quick }: Options): Promise<void> {
  const count = quick ? 200 : 1000;
  const due = await subscribeMany(stage, { count, secondsAhead: quick ? 20 : 60 });
  await at(due);
  let over = false;
  const renewed = secondsUntilRenewed(stage, { due, count }).finally(() => (over = true));
  const beside = await paced(async () => (over ? undefined : stage.pay(inline)), { perSecond: 10, seconds: 70 });
  const seconds = await renewed;
  report.add(`${count} due in the same second, with 60 s of jitter: all renewed after`, `${round(seconds)} s`, '≤ 120 s', seconds <= 120);
  report.add('other payments meanwhile, 10/s', show(beside), 'p99 ≤ 1000 ms, no error', beside.p99 <= 1000 && beside.errors === 0);
}

/** No worker while they fall due; then a new one. */
async function measureCatchUp(report: Report, stage: Stage, stack: TestStack, { quick }: Options): Promise<void> {
  const count = quick ? 200 : 1000;
  const due = await subscribeMany(stage, { count, secondsAhead: quick ? 20 : 60 });
  const worker = stack.child('worker-staging');
  await worker.stop();
  await at(new Date(due.getTime() + 5_000));
  const begin = performance.now();
  await worker.start();
  await secondsUntilRenewed(stage, { due, count });
  const seconds = (performance.now() - begin) / 1000;
  report.add(`${count} fell due while no worker ran: all renewed after its start`, `${round(seconds)} s`, '≤ 60 s', seconds <= 60);
}

/** What sleeping subscriptions cost. */
async function measureAsleep(report: Report, stage: Stage, stack: TestStack, { quick }: Options): Promise<void> {
  const count = quick ? 500 : 10_000;
  const read = () => stage.call('GET', `/customers/${stage.customerId}`).then(() => undefined);
  const pid = () => stack.child('worker-staging').pid;
  await subscribeMany(stage, { count: 50, secondsAhead: 0, asleep: true });
  await load(() => stage.pay(inline), { callers: 4, operations: 200, seconds: 10 });
  const before = { mib: residentMiB(pid()), reads: await load(read, { callers: 1, operations: 300, seconds: 10 }) };
  await subscribeMany(stage, { count, secondsAhead: 0, asleep: true });
  await new Promise((resolve) => setTimeout(resolve, quick ? 2_000 : 20_000));
  const after = { mib: residentMiB(pid()), reads: await load(read, { callers: 1, operations: 300, seconds: 10 }) };
  report.add(`worker memory with ${count} sleeping subscriptions, and before`, `${round(after.mib)} MiB, ${round(before.mib)} MiB`);
  const slower = after.reads.p50 / before.reads.p50;
  report.add('GET p50 beside them, and before', `${round(after.reads.p50)} ms, ${round(before.reads.p50)} ms`, '× ≤ 1.3', slower <= 1.3);
}

interface Many {
  count: number;
  /** Between the last creation and the second in which they fall due. */
  secondsAhead: number;
  /** In a trial of a month instead of a first period. */
  asleep?: boolean;
}

/**
 * Four-weekly subscriptions whose first, short period ends in the same second: its price is below one atom, so the first charge is
 * the renewal's. Answers when they are due.
 */
async function subscribeMany(stage: Stage, { count, secondsAhead, asleep = false }: Many): Promise<Date> {
  const product = await stage.call('POST', '/products/', { name: 'bench', description: 'bench' });
  const price = await stage.call('POST', '/prices/', {
    product_id: product.id, price_type: 'recurring', pricing_model: 'standard', currency: 'usd', unit_amount_atom: 1000, billing_interval: 'week', billing_interval_count: 4, is_active: true,
  });
  const payers = await Promise.all(Array.from({ length: Math.min(customersPerRun, count) }, () => payer(stage)));
  const due = new Date((Math.ceil(Date.now() / 1000) + secondsAhead + Math.ceil(count / createdPerSecond)) * 1000);
  const begin = asleep ? { trial_period_days: 30 } : { starts_at: new Date(due.getTime() - 13 * fourWeeksMs).toISOString() };
  await load(async (index) => {
    const selected_product_price_quantity = [{ price_id: price.id, quantity: 1 }];
    await stage.call('POST', '/subscriptions/', { customer_id: payers[index % payers.length]!, selected_product_price_quantity, ...begin });
  }, { callers: creators, operations: count, seconds: 3_600 });
  if (!asleep && Date.now() > due.getTime()) throw new Error('the subscriptions were not made in time');
  return due;
}

async function payer(stage: Stage): Promise<string> {
  const customer = await stage.call('POST', '/customers/', { email: `renews.${randomUUID()}@example.com` });
  const card = { number: '4242424242424242', exp_month: 12, exp_year: new Date().getUTCFullYear() + 2, cvc: '123' };
  const method = await stage.call('POST', '/payment-methods/', { card });
  await stage.call('POST', `/payment-methods/${method.id}/attach`, { customer_id: customer.id });
  await stage.call('PUT', `/customers/${customer.id}`, { default_payment_method_id: method.id });
  return customer.id as string;
}

async function at(time: Date): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, time.getTime() - Date.now())));
}

/** From the second in which they fell due until the last of them was paid for its new period. */
async function secondsUntilRenewed(stage: Stage, { due, count }: { due: Date; count: number }): Promise<number> {
  await until(async () => {
    const { rows } = await stage.database.db.execute<{ count: number }>(sql`
      select count(*)::int as count from invoices i
       where i.account_id = ${stage.account.id} and i.period_start = ${due.toISOString()}::timestamptz and i.status = 'paid' and i.due_atom = 1000`);
    return rows[0]!.count >= count;
  });
  const { rows } = await stage.database.db.execute<{ last: Date | string }>(sql`
    select max(i.paid_at) as last from invoices i where i.account_id = ${stage.account.id} and i.period_start = ${due.toISOString()}::timestamptz`);
  return (new Date(rows[0]!.last).getTime() - due.getTime()) / 1000;
}
