import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startTestStack, type TestStack } from '../../apps/cli/src/stack/test-stack.js';
import { connect } from '../../libs/db/client.js';
import { Callers } from './caller.js';
import { check } from './checker.js';
import { Disturber } from './disturber.js';
import { readDurableSide } from './histories.js';
import type { ExecutionChoice } from './journeys/journey.js';
import { readLedger } from './ledger.js';
import { BreakingProxy } from './proxy.js';
import { Random } from './random.js';
import { FaultyReceiver } from './receiver.js';
import type { Breach, Records } from './records.js';
import { RecordFile } from './record-file.js';
import { untilAtRest, type Standing } from './rest.js';
import { SecretSearch } from './secrets.js';
import { readBooks, readConnections } from './snapshot.js';
import { Summary } from './summary.js';
import { Travels } from './travels.js';

export interface FaultRunOptions {
  seed: string;
  payments: number;
  execution: ExecutionChoice;
  /** The compiled code. */
  dist: string;
  /** Journeys under way at the same time. */
  atOnce: number;
  /** Milliseconds between two disturbances. */
  every: { least: number; most: number };
  /** Seconds after which unknown outcomes are looked up; the last comes when a machine under load has ended its faults. */
  lookups: string;
  /** After so long no further journey begins. */
  beginMs: number;
  /** After so long callers stop insisting, and what they began is compared as it is. */
  journeysMs: number;
  /** How long the system may take to come to rest when the faults have ended. */
  patienceMs: number;
  /** Keeps records, logs and histories, also of a clean run. */
  keep: boolean;
  told: (line: string) => void;
}

export interface FaultRunResult {
  breaches: Breach[];
  restless: Standing | null;
  summary: Summary;
  /** Where the records were kept; null: removed. */
  folder: string | null;
}

/** Short schedules, so that what production does in a day is over in a minute. */
const compressed = {
  WEBHOOK_RETRY_SCHEDULE: ['0', ...Array.from({ length: 6 }, () => '1'), ...Array.from({ length: 30 }, () => '4')].join(),
  SUBSCRIPTION_JITTER_SECONDS: '0',
  SIMULATOR_SETTLE_MS: '1500',
};

const mostLate = { provider: 6_000, api: 2_000 };
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function faultRun(options: FaultRunOptions): Promise<FaultRunResult> {
  const run = new FaultRun(options);
  const stop = (): void => void run.end().finally(() => process.exit(130));
  for (const signal of signals) process.once(signal, stop);
  try {
    await run.start();
    await run.travel();
    return await run.judge();
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await run.end();
  }
}

class FaultRun {
  private readonly random: Random;
  private readonly folder = mkdtempSync(join(tmpdir(), 'signalbox-faults-'));
  private readonly summary = new Summary();
  private readonly toProvider: BreakingProxy;
  private readonly toApi: BreakingProxy;
  private readonly files: RecordFile[] = [];
  private search = new SecretSearch();
  private stack!: TestStack;
  private callers!: Callers;
  private receiver!: FaultyReceiver;
  private accounts: string[] = [];
  private over = false;
  private kept = false;

  constructor(private readonly options: FaultRunOptions) {
    this.random = new Random(options.seed);
    const told = (fault: string): void => this.summary.count(`network: ${fault}`);
    this.toProvider = new BreakingProxy({ target: () => this.stack.ports.simulator, random: this.random.part('to provider'), mostLateMs: mostLate.provider, told });
    this.toApi = new BreakingProxy({ target: () => this.stack.ports['api-staging'], random: this.random.part('to api'), mostLateMs: mostLate.api, told });
  }

  async start(): Promise<void> {
    await Promise.all([this.toProvider.listen(), this.toApi.listen()]);
    const extra = { ...compressed, PAYMENT_LOOKUP_SCHEDULE: this.options.lookups, SIMULATOR_URL: this.toProvider.url, PUBLIC_URL: this.toApi.url };
    this.stack = await startTestStack(this.options.dist, { environments: ['staging'], extra });
    const { postgresPassword, keys } = this.stack.secrets;
    this.search = new SecretSearch({
      'the database password': postgresPassword, 'the key of secrets': keys.staging.secretKeys.split(':')[1]!, 'the key of tokens': keys.staging.tokenKey,
    });
    this.callers = new Callers({ url: this.toApi.url, log: this.file('callers.jsonl'), isOver: () => this.over });
    this.receiver = new FaultyReceiver({
      random: this.random.part('receiver'), log: this.file('receiver.jsonl'), searched: (body) => this.search.search(body, 'a webhook body'),
    });
    await this.receiver.listen();
  }

  async travel(): Promise<void> {
    const { options, stack, random, toProvider, toApi, receiver } = this;
    const told = (line: string): void => options.told(line);
    const disturber = new Disturber({ stack, random: random.part('disturber'), toProvider, toApi, receiver, every: options.every, told });
    const database = connect(stack.databaseUrl('staging'), { max: 4, onError: () => undefined });
    const tokenKey = Buffer.from(stack.secrets.keys.staging.tokenKey, 'base64');
    const around = { database, tokenKey, callers: this.callers, receiver, random: random.part('shops') };
    const travels = new Travels({ around, random: random.part('journeys'), execution: options.execution, provider: () => stack.ports.simulator, told });
    const cutShort = setTimeout(() => (this.over = true), options.journeysMs);
    const beginNoMore = setTimeout(() => travels.beginNoMore(), options.beginMs);
    const disturbing = disturber.run(() => this.over || travels.haveAllBegun(options.payments));
    try {
      await travels.run(options);
    } finally {
      clearTimeout(cutShort);
      clearTimeout(beginNoMore);
      await disturber.stop();
      await disturbing;
      this.summary.disturbed(disturber.counts, receiver.failures);
      await database.close();
    }
    this.accounts = travels.accounts();
    this.summary.travelled(travels.outcome(), this.callers.calls);
  }

  async judge(): Promise<FaultRunResult> {
    const { options, stack } = this;
    const client = new pg.Client({ connectionString: stack.databaseUrl('staging') });
    await client.connect();
    try {
      const restless = await untilAtRest(client, { ledger: this.ledger, patienceMs: options.patienceMs, told: options.told });
      await pause(1_000);
      const breaches = [...(await this.compare(client)), ...(await this.searchAll(client))];
      if (restless) breaches.push({ rule: 8, what: 'the system did not come to rest', ids: Object.entries(restless).map(([what, count]) => `${what}: ${count}`) });
      this.summary.end();
      if (breaches.length > 0 || restless || options.keep) this.keep(breaches);
      return { breaches, restless, summary: this.summary, folder: this.kept ? this.folder : null };
    } finally {
      await client.end();
    }
  }

  async end(): Promise<void> {
    this.over = true;
    await this.callers?.close();
    await this.receiver?.close();
    await Promise.all([this.toProvider.close(), this.toApi.close()]);
    await this.stack?.remove();
    for (const file of this.files) file.close();
    if (!this.kept) rmSync(this.folder, { recursive: true, force: true });
  }

  /** Account by account, so that a long run's records need not fit together. */
  private async compare(client: pg.Client): Promise<Breach[]> {
    const { stack, random, options } = this;
    const at = { address: stack.temporalAddress, namespace: stack.namespace('staging') };
    const durable = await readDurableSide(at, { search: this.search, random: random.part('sample'), sample: Math.min(200, options.payments) });
    this.summary.count('histories searched', durable.searched.length);
    this.summary.surprises.push(...durable.failures.map((failure) => `a workflow task failed: ${failure.slice(0, 300)}`));
    const ledger = readLedger(this.ledger);
    const breaches: Breach[] = [];
    for (const account of this.accounts) {
      const own = new Set(await readConnections(client, account));
      const records: Records = {
        calls: this.callers.calls.filter((call) => call.account === account),
        payments: ledger.payments.filter(({ connection }) => own.has(connection)),
        operations: ledger.operations.filter(({ connection }) => own.has(connection)),
        heard: this.receiver.heard.get(account) ?? [],
        books: await readBooks(client, account),
        driven: durable.driven,
        readAt: Date.now(),
      };
      this.summary.add(records);
      breaches.push(...check(records));
    }
    return breaches;
  }

  private async searchAll(client: pg.Client): Promise<Breach[]> {
    const { home } = this.stack;
    for (const folder of ['logs', 'temporal', 'simulator']) this.summary.count('files searched', await this.search.searchFolder(home.file(folder)));
    this.summary.count('tables searched', await this.search.searchDatabase(client));
    const answers = new SecretSearch();
    for (const { answer, path } of this.callers.calls) if (answer && !path.startsWith('/webhook-endpoints')) answers.search(JSON.stringify(answer), `answer of ${path}`);
    return [...this.search.breaches, ...answers.breaches];
  }

  private get ledger(): string {
    return this.stack.home.file('simulator', 'ledger.jsonl');
  }

  private file(name: string): RecordFile {
    const file = new RecordFile(join(this.folder, name));
    this.files.push(file);
    return file;
  }

  private keep(breaches: Breach[]): void {
    this.kept = true;
    const { home } = this.stack;
    mkdirSync(join(this.folder, 'logs'), { recursive: true });
    for (const folder of ['logs', 'simulator']) cpSync(home.file(folder), join(this.folder, folder), { recursive: true });
    writeFileSync(join(this.folder, 'breaches.json'), JSON.stringify(breaches, null, 2));
  }
}
