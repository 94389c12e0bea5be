import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { TestStack } from '../../apps/cli/src/stack/test-stack.js';
import { openReads, read } from './bare-route.js';
import { untilReceived, type ReceiverReport } from './deliveries.js';
import { measureBacklog, measureDelay, measureFanOut, measureThroughput } from './delivery-load.js';
import { measureAdded, measureHanging, measureInline } from './executions.js';
import { stopWhenInterrupted, withInstance } from './instance.js';
import { measureIsolation } from './isolation.js';
import { load, paced, percentile } from './measure.js';
import { residentMiB } from './memory.js';
import { measureRenewals, renewalParts } from './renewals.js';
import { Report, round, show } from './report.js';
import { setStage, until, type Stage } from './stage.js';
import { startSubprocess } from './subprocess.js';

const quick = process.argv.includes('--quick');
const together = ['payments', 'executions', 'reads', 'deliveries', 'isolation'] as const;
const parts = [...together, 'renewals', ...renewalParts.map((name) => `renewals:${name}` as const), 'memory'] as const;
type Part = (typeof parts)[number];
const only = process.argv.includes('--only') ? process.argv.slice(process.argv.indexOf('--only') + 1).filter((each) => !each.startsWith('--')) : [];
const wants = (part: Part) => only.length === 0 || only.includes(part);
const report = new Report();
const heading = (text: string) => process.stdout.write(`\n${text}\n`);

async function main(): Promise<void> {
  const unknown = only.find((each) => !(parts as readonly string[]).includes(each));
  if (unknown !== undefined) throw new Error(`no such part: ${unknown}; known: ${parts.join(', ')}`);
  stopWhenInterrupted();
  if (together.some(wants)) await measureTogether();
  for (const name of renewalParts) {
    if (!wants('renewals') && !wants(`renewals:${name}`)) continue;
    heading(`renewals: ${name}`);
    await measureRenewals(name, report, { quick });
  }
  if (wants('memory')) await measureMemory();
  report.print();
}

/** What shares one instance. */
async function measureTogether(): Promise<void> {
  heading('starting an instance of its own');
  await withInstance({ environments: ['staging'] }, async (stack) => {
    const stage = await setStage(stack);
    if (wants('payments')) await measurePayments(stack, stage);
    if (wants('executions')) {
      heading('inline beside workflow');
      await measureAdded(report, stage, { quick });
      await measureHanging(report, stage, { quick });
      await measureInline(report, stage, { quick });
    }
    if (wants('reads')) await measureReads(stack, stage);
    if (wants('deliveries')) await measureDeliveries(stage);
    if (wants('isolation')) {
      heading('endpoints that fail beside others');
      await measureIsolation(report, stage, { quick });
    }
    await stage.close();
  });
}

async function measurePayments(stack: TestStack, stage: Stage): Promise<void> {
  const worker = await startSubprocess('floor', { TEMPORAL_ADDRESS: stack.temporalAddress, BENCH_NAMESPACE: stack.namespace('staging') });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const client = new Client({ connection, namespace: stack.namespace('staging') });
  const bare = async () => void (await client.workflow.execute('floor', { taskQueue: 'bench-floor', workflowId: `floor/${randomUUID()}` }));
  const pay = () => stage.pay();
  await load(bare, { callers: 8, operations: 100, seconds: 10 });
  await load(pay, { callers: 8, operations: 100, seconds: 10 });

  heading('one at a time, on an idle system');
  const idle = { callers: 1, operations: quick ? 30 : 100, seconds: 30 };
  const alone = { bare: await load(bare, idle), pay: await load(pay, idle) };
  report.add('bare workflow, 1 caller', show(alone.bare));
  report.add('payment, 1 caller', show(alone.pay));
  const extra = alone.pay.p50 - alone.bare.p50;
  report.add('payment p50 over the bare workflow\'s', `${round(extra)} ms`, '≤ 12 ms', extra <= 12);

  heading('under load');
  const seconds = quick ? 5 : 12;
  const ratios: number[] = [];
  for (const callers of [8, 32]) {
    const floor = await load(bare, { callers, operations: 100_000, seconds });
    const paid = await load(pay, { callers, operations: 100_000, seconds });
    ratios.push(paid.rate / floor.rate);
    report.add(`bare workflow (the floor), ${callers} callers`, show(floor));
    report.add(`payments without endpoints, ${callers} callers`, show(paid));
  }
  const best = Math.max(...ratios);
  report.add('payments / floor, without endpoints', ratios.map(round).join(' and '), '≥ 0.7', best >= 0.7);

  const receiver = await startSubprocess('receiver', {});
  const endpoint = await stage.call('POST', '/webhook-endpoints/', { url: receiver.url });
  const floor = await load(bare, { callers: 32, operations: 100_000, seconds });
  const paid = await load(pay, { callers: 32, operations: 100_000, seconds });
  report.add('payments with one endpoint, 32 callers', show(paid));
  report.add('payments / floor, with one endpoint', round(paid.rate / floor.rate), '≥ 0.6', paid.rate / floor.rate >= 0.6);
  const heard = await receiver.ask<ReceiverReport>('reset');
  report.add('event → first byte at the receiver, under that load', `p50 ${percentile(heard.delays, 0.5)} ms, p99 ${percentile(heard.delays, 0.99)} ms`);
  await until(async () => (await stage.pendingDeliveries()) === 0);
  await receiver.ask('reset');
  await paced(() => stage.pay(), { perSecond: 15, seconds: quick ? 4 : 15 });
  const calm = await untilReceived(receiver, 100);
  const p99 = percentile(calm.delays, 0.99);
  report.add('event → first byte at the receiver, about 15 payments a second', `p50 ${percentile(calm.delays, 0.5)} ms, p99 ${p99} ms`, 'p99 ≤ 1000 ms', p99 <= 1000);
  await stage.call('DELETE', `/webhook-endpoints/${endpoint.id}`);
  receiver.stop();
  worker.stop();
  await connection.close();
}

async function measureReads(stack: TestStack, stage: Stage): Promise<void> {
  heading('GET by id');
  const { ours, bare, close } = await openReads(stack, stage);
  const busy = () => read(stage, stage.http, stage.customerId);
  const run = { callers: 32, operations: 1_000_000, seconds: quick ? 3 : 8 };
  await load(ours, { ...run, seconds: 2 });
  await load(bare, { ...run, seconds: 2 });
  const got = await load(ours, run);
  const floor = await load(bare, run);
  report.add('GET /customers/{id}, 32 callers', show(got), '≥ 3000/s', got.rate >= 3000);
  report.add('bare Fastify route with the same select', show(floor));
  report.add('GET by id / bare route', round(got.rate / floor.rate));
  report.add('GET of the customer who made all payments of this run', show(await load(busy, { ...run, seconds: 3 })));
  await close();
}

async function measureDeliveries(stage: Stage): Promise<void> {
  const run = { report, stage, quick };
  heading('webhook deliveries');
  const rate = await measureThroughput(run);
  await measureDelay(run, rate);
  await measureBacklog(run, rate);
  await measureFanOut(run);
}

async function measureMemory(): Promise<void> {
  heading('memory of both environments, a minute after their start');
  await withInstance({}, async (stack) => {
    await new Promise((resolve) => setTimeout(resolve, quick ? 5_000 : 60_000));
    const used = stack.children().map((child) => ({ name: child.name, mib: residentMiB(child.pid) }));
    const sum = used.reduce((total, { mib }) => total + mib, 0);
    for (const { name, mib } of used) report.add(`memory of ${name}`, `${round(mib)} MiB`);
    report.add('memory of all processes', `${round(sum)} MiB`, '≤ 1536 MiB', sum <= 1536);
  });
}

await main();
