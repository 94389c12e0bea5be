import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { load, paced, percentile, pooled, type Sample } from './measure.js';
import { show, type Report } from './report.js';
import { until, type Stage } from './stage.js';
import { startSubprocess } from './subprocess.js';
import type { ReceiverReport } from './deliveries.js';

const inline = { execution: 'inline' };

/** Both executions at an even rate over the provider's own answer: measured warm, before anything saturates the machine. */
export async function measureAdded(report: Report, stage: Stage, { quick }: { quick: boolean }): Promise<void> {
  await load(() => stage.pay(inline), { callers: 8, operations: quick ? 300 : 3_000, seconds: 15 });
  await load(() => stage.pay(), { callers: 4, operations: quick ? 30 : 200, seconds: 15 });
  const provider = await providerAlone(stage, { perSecond: 100, seconds: quick ? 4 : 15 });
  const { measured: even, disk } = await besideDisk(() => paced(() => stage.pay(inline), { perSecond: 100, seconds: quick ? 4 : 30 }));
  const added = { p50: even.p50 - provider.p50, p99: even.p99 - provider.p50 };
  report.add('the provider alone at 100/s', show(provider));
  report.add('inline at 100/s over the provider\'s p50', `p50 ${added.p50.toFixed(1)} ms, p99 ${added.p99.toFixed(1)} ms, ${even.errors} errors`, 'p50 ≤ 8, p99 ≤ 50 ms, no error',
    added.p50 <= 8 && added.p99 <= 50 && even.errors === 0);
  report.add('the disk meanwhile, a page and fdatasync', disk);
  const seldom = { perSecond: 10, seconds: quick ? 4 : 15 };
  const calm = await providerAlone(stage, seldom);
  const durable = await paced(() => stage.pay(), seldom);
  const over = durable.p50 - calm.p50;
  report.add('the provider alone at 10/s', show(calm));
  report.add('workflow at 10/s over the provider\'s p50', `p50 ${over.toFixed(1)} ms, ${durable.errors} errors`, '≤ 40 ms', over <= 40);
}

const saturating = [32, 64] as const;

/** As many inline payments as the machine takes, with and without an endpoint. */
export async function measureInline(report: Report, stage: Stage, { quick }: { quick: boolean }): Promise<void> {
  const run = { operations: 10_000_000, seconds: quick ? 6 : 60 };
  const free: Sample[] = [];
  for (const callers of saturating) {
    const sample = await load(() => stage.pay(inline), { ...run, callers });
    free.push(sample);
    report.add(`inline payments without endpoints, ${callers} callers, a minute`, show(sample));
  }
  const rate = Math.max(...free.map((sample) => sample.rate));
  report.add('inline payments without endpoints', free.map((sample) => `${sample.rate.toFixed(0)}/s`).join(' and '), '≥ 600/s', rate >= 600 && free.every(({ errors }) => errors === 0));

  const receiver = await startSubprocess('receiver', {});
  const endpoint = await stage.call('POST', '/webhook-endpoints/', { url: receiver.url });
  const heard: (Sample & { backlog: number })[] = [];
  for (const callers of saturating) {
    const sample = await load(() => stage.pay(inline), { ...run, callers, seconds: quick ? 6 : 30 });
    const ended = performance.now();
    await until(async () => (await stage.pendingDeliveries()) === 0);
    const backlog = (performance.now() - ended) / 1000;
    await receiver.ask<ReceiverReport>('reset');
    heard.push({ ...sample, backlog });
    report.add(`inline payments with one endpoint on all events, ${callers} callers`, `${show(sample)}; backlog ${backlog.toFixed(1)} s`);
  }
  report.add('inline payments with one endpoint on all events', heard.map((each) => `${each.rate.toFixed(0)}/s`).join(' and '), '≥ 400/s, backlog ≤ 1 s',
    heard.some((each) => each.rate >= 400 && each.backlog <= 1));
  await stage.call('DELETE', `/webhook-endpoints/${endpoint.id}`);
  receiver.stop();
}

/** A disk that stands still holds up every commit: what it took by itself in the same seconds. */
async function besideDisk<T>(work: () => Promise<T>): Promise<{ measured: T; disk: string }> {
  const writer = await startSubprocess('disk', {});
  try {
    const measured = await work();
    const took = await writer.ask<number[]>('report');
    const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => percentile(took, share).toFixed(1));
    return { measured, disk: `p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms` };
  } finally {
    writer.stop();
  }
}

/** What the provider itself takes for a charge, without this service. */
async function providerAlone(stage: Stage, pace: { perSecond: number; seconds: number }): Promise<Sample> {
  const http = new Pool(stage.simulatorUrl, { connections: 32 });
  const headers = { authorization: 'Bearer bench', 'content-type': 'application/json' };
  const post = async (path: string, body: object) => {
    const answer = await http.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`the provider answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as { id: string };
  };
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvc: '123' };
  const method = await post('/v1/payment-methods', { card });
  const charge = () => ({
    reference: randomUUID(), amount: 1000, currency: 'usd', capture: 'automatic', payment_method: method.id, off_session: false, return_url: null,
    callback_url: null, metadata: {},
  });
  try {
    return await paced(async () => void (await post('/v1/payments', charge())), pace);
  } finally {
    await http.close();
  }
}

/** Until the payments of a round want to be looked at only now and then. */
const restMs = 20_000;

/**
 * Payments at one connection while another never answers: ten a second go there until its breaker opens; their time-outs and lookups
 * follow. By turns without and with it, so that both see the same machine.
 */
export async function measureHanging(report: Report, stage: Stage, { quick }: { quick: boolean }): Promise<void> {
  const rounds: HangingRound[] = [];
  for (let left = quick ? 1 : 3; left > 0; left -= 1) {
    rounds.push(await hangingRound(stage, { perSecond: 40, seconds: quick ? 12 : 24 }));
    if (left > 1) await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  const [calm, beside] = [pooled(rounds.map((round) => round.calm)), pooled(rounds.map((round) => round.beside))];
  const each = rounds.map((round) => (round.beside.p99 / round.calm.p99).toFixed(2)).join(', ');
  const ratio = beside.p99 / calm.p99;
  report.add('inline at 40/s', show(calm));
  report.add(`the same while another processor hangs, whose breaker opened after ${rounds.map(({ openedAfter }) => openedAfter.toFixed(1)).join(', ')} s`,
    `${show(beside)}; p99 × ${ratio.toFixed(2)}${rounds.length > 1 ? ` (one by one ${each})` : ''}`, '≤ 1.5', ratio <= 1.5 && beside.errors === 0);
}

interface HangingRound {
  calm: Sample;
  beside: Sample;
  /** Seconds. */
  openedAfter: number;
}

async function hangingRound(stage: Stage, run: { perSecond: number; seconds: number }): Promise<HangingRound> {
  const hanging = await stage.call('POST', '/payment-processors/', { name: 'hanging', kind: 'simulator', settings: { outcome: 'timeout_before_charge' } });
  const alone = { strategy: 'priority', processors: [hanging.id] };
  const route = await stage.call('POST', '/payment-routes/', { name: 'hanging', route_configuration: { rules: [], default: alone } });
  const calm = await paced(() => stage.pay(inline), run);
  let isOpen = false;
  const hangs = paced(async () => {
    await stage.call('POST', '/payment-intents/', { ...stage.wish, ...inline, payment_route_id: route.id }).catch(() => undefined);
  }, { perSecond: 10, seconds: run.seconds, isOver: () => isOpen });
  const began = performance.now();
  const opened = until(async () => {
    const { degraded_at: since } = await stage.call('GET', `/payment-processors/${hanging.id}`);
    return since !== null;
  }, { everyMs: 250 }).then(() => {
    isOpen = true;
    return (performance.now() - began) / 1000;
  });
  const beside = await paced(() => stage.pay(inline), run);
  const openedAfter = await opened;
  await stage.call('DELETE', `/payment-routes/${route.id}`);
  await stage.call('DELETE', `/payment-processors/${hanging.id}`);
  await hangs;
  return { calm, beside, openedAfter };
}
