import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startTestStack, type TestStack } from '../../../apps/cli/src/stack/test-stack.js';
import { connect } from '../../../libs/db/client.js';
import { Callers, type Caller } from '../caller.js';
import { check } from '../checker.js';
import { readLedger } from '../ledger.js';
import { Random } from '../random.js';
import { FaultyReceiver } from '../receiver.js';
import { RecordFile } from '../record-file.js';
import type { Breach, Records } from '../records.js';
import { untilAtRest, type Standing } from '../rest.js';
import { cardNumbers, cardOf, made, openShop, RunIsOver, type Shop } from '../shop.js';
import { readBooks, readConnections } from '../snapshot.js';
import { AimedKiller } from './aimed-killer.js';
import { inOrder, oneEventPerChange, repetitions } from './delivery-rules.js';

export interface KillRunOptions {
  seed: string;
  /** How often API or worker is killed. */
  kills: number;
  /** The compiled code. */
  dist: string;
  /** Callers at work at the same time. */
  atOnce: number;
  /** After the kills Temporal is away for so long; 0: it is not. */
  temporalAwayMs: number;
  patienceMs: number;
  told: (line: string) => void;
}

/** Milliseconds after Temporal's return within which deliveries go on. */
const resumesWithinMs = 15_000;

export interface KillRunResult {
  breaches: Breach[];
  restless: Standing | null;
  counts: Record<string, number>;
  /** Where the records of a broken run were kept. */
  folder: string | null;
}

const schedule = ['0', ...Array.from({ length: 30 }, () => '1')].join();

/** Callers' own record of each request, and the moments that the killer aims at. */
class CallerFile extends RecordFile {
  constructor(path: string, private readonly saw: (moment: 'asked' | 'acknowledged') => void) {
    super(path);
  }

  override append(record: { asked?: number; status?: number | null; method?: string }): void {
    super.append(record);
    if (record.asked !== undefined) this.saw('asked');
    else if (typeof record.status === 'number' && record.status < 300) this.saw('acknowledged');
  }
}

/**
 * Changes and payments under load while API and worker are killed beside commits and sends; then the callers', the provider's and
 * the receivers' records are compared with the database.
 */
export async function killRun(options: KillRunOptions): Promise<KillRunResult> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-kills-'));
  const random = new Random(options.seed);
  const stack = await startTestStack(options.dist, { environments: ['staging'], extra: { WEBHOOK_RETRY_SCHEDULE: schedule, SIMULATOR_SETTLE_MS: '1500' } });
  const killer = new AimedKiller({ stack, random: random.part('killer'), kills: options.kills, told: options.told });
  const calls = new CallerFile(join(folder, 'callers.jsonl'), (moment) => killer.saw(moment));
  const posts = new RecordFile(join(folder, 'receiver.jsonl'));
  let lastPost = 0;
  const receiver = new FaultyReceiver({
    random: random.part('receiver'), log: posts, searched: () => {
      lastPost = performance.now();
      killer.saw('posted');
    },
  });
  receiver.likelihood = 0.02;
  let over = false;
  const callers = new Callers({ url: stack.apiUrl('staging'), log: calls, isOver: () => over });
  let kept = false;
  try {
    await receiver.listen();
    const shop = await openStage({ stack, callers, receiver, random });
    let resumedMs = 0;
    const killing = killer.run()
      .then(async () => { resumedMs = await leaveTemporal(stack, { ...options, lastPost: () => lastPost }); })
      .finally(() => (over = true));
    await Promise.all([killing, ...Array.from({ length: options.atOnce }, (_, index) => work(shop, random.part(`caller ${index}`), { index, isOver: () => over }))]);
    const result = await judge({ stack, callers, receiver, shop, options });
    if (resumedMs > resumesWithinMs) result.breaches.push({ rule: 8, what: `deliveries went on only ${Math.round(resumedMs)} ms after Temporal's return`, ids: [] });
    kept = result.breaches.length > 0;
    if (kept) cpSync(stack.home.file('logs'), join(folder, 'logs'), { recursive: true });
    return { ...result, counts: { ...killer.counts, ...result.counts, ...(options.temporalAwayMs > 0 ? { 'ms until deliveries went on after Temporal': Math.round(resumedMs) } : {}) }, folder: kept ? folder : null };
  } finally {
    over = true;
    await callers.close();
    await receiver.close();
    await stack.remove();
    for (const file of [calls, posts]) file.close();
    if (!kept) rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds from the return of Temporal to the first post. */
async function leaveTemporal(stack: TestStack, { temporalAwayMs, told, lastPost }: KillRunOptions & { lastPost: () => number }): Promise<number> {
  if (temporalAwayMs === 0) return 0;
  await stack.child('temporal').kill9();
  told(`Temporal is away for ${temporalAwayMs / 1_000} s`);
  await pause(temporalAwayMs);
  await stack.child('temporal').restart();
  const back = performance.now();
  while (lastPost() < back && performance.now() < back + 60_000) await pause(20);
  return performance.now() - back;
}

interface KillStage extends Shop {
  card: string;
  /** Public id of the endpoint that is told in order. */
  ordered: string;
}

async function openStage({ stack, callers, receiver, random }: { stack: TestStack; callers: Callers; receiver: FaultyReceiver; random: Random }): Promise<KillStage> {
  const database = connect(stack.databaseUrl('staging'), { max: 2 });
  try {
    const tokenKey = Buffer.from(stack.secrets.keys.staging.tokenKey, 'base64');
    const shop = await openShop({ database, tokenKey, callers, receiver, random: random.part('shop') }, 'killed');
    const endpoint = await made(shop.caller, '/webhook-endpoints/', { url: receiver.urlOf('ordered'), ordered: true });
    receiver.register('ordered', { id: endpoint.id, account: shop.account, secret: endpoint.secret });
    return { ...shop, card: await cardOf(shop, shop.caller, cardNumbers.good[0]!), ordered: endpoint.id };
  } finally {
    await database.close();
  }
}

/** One caller: customers that are made and changed, and now and then a payment, until the kills are over. */
async function work(stage: KillStage, random: Random, { index, isOver }: { index: number; isOver: () => boolean }): Promise<void> {
  for (let round = 0; !isOver(); round += 1) {
    const caller = stage.caller.on(`work-${index}-${round}`);
    try {
      await changeCustomer(caller, random.between(1, 3));
      if (random.chance(0.4)) await pay(stage, caller, random);
    } catch (error) {
      if (!(error instanceof RunIsOver)) throw error;
    }
  }
}

async function changeCustomer(caller: Caller, changes: number): Promise<void> {
  const { id } = await made(caller, '/customers/', { email: `${caller.journey}@example.com` });
  for (let change = 1; change <= changes; change += 1) {
    await caller.insist({ method: 'PUT', path: `/customers/${id}`, body: { first_name: `Change ${change}` }, key: caller.newKey() });
  }
}

async function pay(stage: KillStage, caller: Caller, random: Random): Promise<void> {
  await caller.post('/payment-intents/', {
    amount_atom: random.between(100, 9_999), currency: 'eur', customer_id: stage.customer, payment_method_id: stage.card, payment_route_id: stage.routes.pair,
    confirm: true, execution: random.pick(['inline', 'workflow']), metadata: { journey: caller.journey },
  });
}

interface Ended {
  stack: TestStack;
  callers: Callers;
  receiver: FaultyReceiver;
  shop: KillStage;
  options: KillRunOptions;
}

async function judge({ stack, callers, receiver, shop, options }: Ended): Promise<Omit<KillRunResult, 'folder'>> {
  const client = new pg.Client({ connectionString: stack.databaseUrl('staging') });
  await client.connect();
  try {
    const file = stack.home.file('simulator', 'ledger.jsonl');
    receiver.likelihood = 0;
    const restless = await untilAtRest(client, { ledger: file, patienceMs: options.patienceMs, told: options.told });
    const own = new Set(await readConnections(client, shop.account));
    const ledger = readLedger(file);
    const records: Records = {
      calls: callers.calls,
      payments: ledger.payments.filter(({ connection }) => own.has(connection)),
      operations: ledger.operations.filter(({ connection }) => own.has(connection)),
      heard: receiver.heard.get(shop.account) ?? [],
      books: await readBooks(client, shop.account),
      driven: null,
      readAt: Date.now(),
    };
    const { repeated, different } = repetitions(records.heard);
    const breaches = [...check(records), ...inOrder(records.heard, shop.ordered), ...oneEventPerChange(records)];
    if (different > 0) breaches.push({ rule: 6, what: `${different} events were posted again with other bytes`, ids: [] });
    if (restless) breaches.push({ rule: 8, what: 'the system did not come to rest', ids: Object.entries(restless).map(([what, count]) => `${what}: ${count}`) });
    const counts = {
      calls: callers.calls.length, 'calls without answer': callers.calls.filter(({ status }) => status === null).length, events: records.books.events.length,
      payments: records.books.intents.length, deliveries: records.books.deliveries.length, 'posts received': records.heard.length, 'posts repeated': repeated,
      'deliveries lost': breaches.filter(({ what }) => what.includes('never reached')).length,
    };
    return { breaches, restless, counts };
  } finally {
    await client.end();
  }
}
