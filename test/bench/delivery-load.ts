import { bareLoop, emit, makeBacklog, startCounting, untilReceived, type ReceiverReport } from './deliveries.js';
import { load, paced, percentile } from './measure.js';
import { round, type Report } from './report.js';
import { until, type Stage } from './stage.js';
import { startSubprocess, type Subprocess } from './subprocess.js';

interface Run {
  report: Report;
  stage: Stage;
  quick: boolean;
}

/** How fast one endpoint's backlog is delivered, beside loops that post the same bytes to the same receiver; what each delivery costs the database. */
export async function measureThroughput({ report, stage, quick }: Run): Promise<number> {
  const receiver = await startSubprocess('receiver', {});
  const endpoint = await stage.call('POST', '/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.updated'] });
  await stage.call('POST', `/webhook-endpoints/${endpoint.id}/pause`);
  const count = quick ? 2000 : 10_000;
  const bodies = await makeBacklog(stage, count);
  const spent = await startCounting(stage);
  await stage.call('POST', `/webhook-endpoints/${endpoint.id}/resume`);
  const drained = await untilReceived(receiver, count);
  const rate = rateOf(drained);
  await until(async () => (await stage.pendingDeliveries()) === 0);
  const { statements, transactions, rows, walBytes } = await spent();
  await receiver.ask('reset');
  const recorded = await bareLoop(stage, { receiver, bodies, record: true });
  const posted = await bareLoop(stage, { receiver, bodies, record: false });
  report.add(`deliveries, backlog of ${count} at one endpoint`, `${round(rate)}/s`, '≥ 1500/s', rate >= 1500);
  report.add('loop: post, then one transaction each', `${round(recorded)}/s`);
  report.add('loop: post alone', `${round(posted)}/s`);
  report.add('deliveries / loop with a transaction each', round(rate / recorded), '≥ 0.6', rate / recorded >= 0.6);
  report.add('deliveries / posting alone', round(rate / posted));
  report.add('per delivery', `${round(statements / count)} statements, ${round(transactions / count)} transactions, ${round(rows / count)} rows written, ${round(walBytes / count)} bytes of WAL`);
  await stage.call('DELETE', `/webhook-endpoints/${endpoint.id}`);
  receiver.stop();
  return rate;
}

/** Events at an even rate, half of what a backlog is delivered at, ten to a commit. */
export async function measureDelay({ report, stage, quick }: Run, fullRate: number): Promise<void> {
  const receiver = await startSubprocess('receiver', {});
  const endpoint = await stage.call('POST', '/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.updated'] });
  const seconds = quick ? 3 : 15;
  const commits = Math.max(1, Math.round(fullRate / 2 / 10));
  await emit(stage, 'customer.updated', 10);
  await untilReceived(receiver, 10);
  await receiver.ask('reset');
  const sent = await paced(async () => void (await emit(stage, 'customer.updated', 10)), { perSecond: commits, seconds });
  const { delays } = await untilReceived(receiver, sent.count * 10);
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
  report.add(`commit → first byte at ${commits * 10} events a second`, `p50 ${p50} ms, p99 ${p99} ms`, 'p50 ≤ 50, p99 ≤ 500 ms', p50 <= 50 && p99 <= 500);
  await stage.call('DELETE', `/webhook-endpoints/${endpoint.id}`);
  receiver.stop();
}

/** A large backlog of one endpoint, while others hear an event now and then. */
export async function measureBacklog({ report, stage, quick }: Run, fullRate: number): Promise<void> {
  const [behind, fresh] = await Promise.all([startSubprocess('receiver', {}), startSubprocess('receiver', {})]);
  const other = await stage.call('POST', '/webhook-endpoints/', { url: fresh.url, enabled_events: ['product.updated'] });
  const alone = await freshDelays(stage, fresh, quick ? 3 : 10);
  const endpoint = await stage.call('POST', '/webhook-endpoints/', { url: behind.url, enabled_events: ['customer.updated'] });
  await stage.call('POST', `/webhook-endpoints/${endpoint.id}/pause`);
  const count = quick ? 5000 : 100_000;
  for (let made = 0; made < count; made += 500) await emit(stage, 'customer.updated', 500);
  await stage.call('POST', `/webhook-endpoints/${endpoint.id}/resume`);
  const beside = await freshDelays(stage, fresh, quick ? 2 : 20);
  const rate = rateOf(await untilReceived(behind, count));
  const told = (delays: number[]) => `p50 ${percentile(delays, 0.5)} ms, p99 ${percentile(delays, 0.99)} ms`;
  report.add(`deliveries, backlog of ${count} at one endpoint, beside fresh events`, `${round(rate)}/s`, '≥ 0.8 of the rate of a short one', rate >= 0.8 * fullRate);
  report.add('commit → first byte at another endpoint, alone', told(alone));
  const [p50, p99] = [percentile(beside, 0.5), percentile(beside, 0.99)];
  report.add('commit → first byte at another endpoint, beside that backlog', told(beside), 'p50 ≤ 50, p99 ≤ 500 ms', p50 <= 50 && p99 <= 500);
  for (const { id } of [endpoint, other]) await stage.call('DELETE', `/webhook-endpoints/${id}`);
  behind.stop();
  fresh.stop();
}

async function freshDelays(stage: Stage, receiver: Subprocess, seconds: number): Promise<number[]> {
  await receiver.ask('reset');
  const sent = await paced(async () => void (await emit(stage, 'product.updated', 1)), { perSecond: 20, seconds });
  return (await untilReceived(receiver, sent.count)).delays;
}

/** One event that many endpoints hear, while payments go on. */
export async function measureFanOut({ report, stage, quick }: Run): Promise<void> {
  const receiver = await startSubprocess('receiver', {});
  const count = quick ? 50 : 1000;
  for (let made = 0; made < count; made += 10) {
    await Promise.all(Array.from({ length: 10 }, () => stage.call('POST', '/webhook-endpoints/', { url: receiver.url, enabled_events: ['product.deleted'] })));
  }
  const pay = { callers: 1, operations: 100_000, seconds: quick ? 3 : 10 };
  await load(() => stage.pay(), { ...pay, operations: 20 });
  const calm = await load(() => stage.pay(), pay);
  const begin = Date.now();
  await emit(stage, 'product.deleted', 1);
  const [busy, heard] = await Promise.all([load(() => stage.pay(), pay), untilReceived(receiver, count)]);
  const seconds = (heard.lastAt - begin) / 1000;
  report.add(`one event to ${count} endpoints: all first attempts`, `${round(seconds)} s`, '≤ 45 s', seconds <= 45);
  report.add('payments\' p50 meanwhile, before', `${round(busy.p50)} ms, ${round(calm.p50)} ms`, 'at most doubled', busy.p50 <= 2 * calm.p50);
  receiver.stop();
}

function rateOf({ count, firstAt, lastAt }: ReceiverReport): number {
  return (count - 1) / ((lastAt - firstAt) / 1000);
}
