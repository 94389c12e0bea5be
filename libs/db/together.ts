import type pg from 'pg';
import { isStatementError, planOnce, poolOf, runBatch, runOn, type Row, type Statement } from './batch.js';
import type { Db } from './client.js';
import { isAt, rowsAt, together } from './merge.js';

/** Transactions of one lane that are under way at once; what comes meanwhile waits and goes out together. */
const mostFlights = 2;
/** Batches in one transaction. */
const mostTogether = 24;
/** A transaction that takes longer no longer keeps others from leaving. */
const slowMs = 100;
/** How long batches that share a transaction wait for a row lock: then each goes alone, so that one payment never holds up another. */
const lockTimeoutMs = 250;

interface Waiting {
  statements: readonly Statement[];
  /** Row locks are taken in this order. */
  order: string;
  resolve(rows: Row[][]): void;
  reject(error: unknown): void;
}

interface WaitingForNumber {
  wish: Numbered;
  resolve(): void;
  reject(error: unknown): void;
}

interface Lanes {
  reads: Lane<Waiting>;
  writes: Lane<Waiting>;
  numbers: Lane<WaitingForNumber>;
}

const lanes = new WeakMap<pg.Pool, Lanes>();

/**
 * As `sendBatch`, but statements of callers that come at the same time share a transaction and its round trip. Each caller gets its
 * own rows or its own error: where one batch is refused, nothing of the others is written either, and they are sent again without it.
 * An error that is no `isStatementError` leaves open what happened, for all of them. An idle lane sends at once.
 * `order`: names the row that the batch locks, so that transactions lock in one order.
 */
export function writeTogether(db: Db, statements: readonly Statement[], order: string): Promise<Row[][]> {
  return new Promise((resolve, reject) => lanesOf(db).writes.add({ statements, order, resolve, reject }));
}

/** Reads of callers that come at the same time, in one round trip. Each statement sees what was committed before it. */
export function readTogether(db: Db, statements: readonly Statement[]): Promise<Row[][]> {
  return new Promise((resolve, reject) => lanesOf(db).reads.add({ statements, order: '', resolve, reject }));
}

/** A batch that needs the account's next number. */
export interface Numbered {
  accountId: string;
  /** What must hold, by `orFail`; they lock the rows that `write` changes. */
  guards: readonly Statement[];
  order: string;
  /** Everything that the number appears in. Called again with another number where the transaction did not come about. */
  write(number: number): Promise<readonly Statement[]>;
}

/**
 * As `writeTogether`, with one of the account's consecutive numbers: those who come at the same time take theirs in one transaction of
 * two round trips, and whoever fails gives its own back.
 */
export function writeNumbered(db: Db, wish: Numbered): Promise<void> {
  return new Promise((resolve, reject) => lanesOf(db).numbers.add({ wish, resolve, reject }));
}

function lanesOf(db: Db): Lanes {
  const pool = poolOf(db);
  let known = lanes.get(pool);
  if (!known) {
    const batches = () => new Lane<Waiting>(mostFlights, (group) => runGroup(pool, group));
    known = { reads: batches(), writes: batches(), numbers: new Lane(1, (group) => runNumbered(pool, group)) };
    lanes.set(pool, known);
  }
  return known;
}

class Lane<Each> {
  private readonly waiting: Each[] = [];
  private flights = 0;
  private leaving = false;

  constructor(
    private readonly mostFlights: number,
    private readonly run: (group: Each[]) => Promise<void>,
  ) {}

  add(each: Each): void {
    this.waiting.push(each);
    this.leave();
  }

  /** What the same turn of the event loop brings leaves together. */
  private leave(): void {
    if (this.leaving || this.waiting.length === 0 || this.flights >= this.mostFlights) return;
    this.leaving = true;
    setImmediate(() => {
      this.leaving = false;
      while (this.waiting.length > 0 && this.flights < this.mostFlights) void this.fly(this.waiting.splice(0, mostTogether));
    });
  }

  private async fly(group: Each[]): Promise<void> {
    let counted = true;
    const landed = (): void => {
      if (counted) this.flights -= 1;
      counted = false;
      this.leave();
    };
    this.flights += 1;
    const slow = setTimeout(landed, slowMs);
    await this.run(group);
    clearTimeout(slow);
    landed();
  }
}

async function runGroup(pool: pg.Pool, group: Waiting[]): Promise<void> {
  if (group.length === 1) return runAlone(pool, group[0]!);
  const { statements, parts } = together(inOrder(group, ({ order }) => order));
  const sent = await runBatch(pool, [planOnceAndHurry, ...statements]);
  if (!('error' in sent)) {
    const answers = sent.rows.slice(1);
    for (const { each, at } of parts) each.resolve(at.map((place) => rowsAt(place, answers)));
  } else if (isStatementError(sent.error)) {
    const refused = parts.filter(isAt(sent.failedAt - 1)).map(({ each }) => each);
    const others = group.filter((each) => !refused.includes(each));
    await Promise.all(refused.length === 1 ? [runGroup(pool, refused), runGroup(pool, others)] : group.map((each) => runAlone(pool, each)));
  } else {
    for (const each of group) each.reject(sent.error);
  }
}

async function runAlone(pool: pg.Pool, each: Waiting): Promise<void> {
  const { statements, parts } = together([each]);
  const sent = await runBatch(pool, [planOnce, ...statements]);
  if ('error' in sent) return each.reject(sent.error);
  const answers = sent.rows.slice(1);
  each.resolve(parts[0]!.at.map((place) => rowsAt(place, answers)));
}

function inOrder<Each>(group: readonly Each[], orderOf: (each: Each) => string): Each[] {
  return [...group].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : orderOf(a) > orderOf(b) ? 1 : 0));
}

const planOnceAndHurry: Statement = { text: `${planOnce.text}, set_config('lock_timeout', '${lockTimeoutMs}ms', true)`, values: [] };

const begin: Statement = { text: 'begin', values: [] };
const commit: Statement = { text: 'commit', values: [] };

/** Takes one of those numbers that follow the account's last; the row is locked until the transaction ends. */
const takeNumbers = `insert into invoice_numbers (account_id, last) values ($1, $2)
  on conflict (account_id) do update set last = invoice_numbers.last + excluded.last returning last`;

interface Failed {
  error: unknown;
  /** What happened is not known, and the connection is of no use any more. */
  broken: boolean;
  /** Whose fault it was. */
  refused?: WaitingForNumber;
}

async function runNumbered(pool: pg.Pool, group: readonly WaitingForNumber[]): Promise<void> {
  const failed = await inOneTransaction(pool, inOrder(group, ({ wish }) => wish.order));
  if (!failed) {
    for (const each of group) each.resolve();
  } else if (failed.broken || group.length === 1) {
    for (const each of group) each.reject(failed.error);
  } else {
    const { refused } = failed;
    const apart = refused ? [[refused], group.filter((each) => each !== refused)] : group.map((each) => [each]);
    await Promise.all(apart.map((some) => runNumbered(pool, some)));
  }
}

/** Null: it is committed. */
async function inOneTransaction(pool: pg.Pool, group: readonly WaitingForNumber[]): Promise<Failed | null> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    return { error, broken: true };
  }
  const failed = await takeAndWrite(client, group);
  const ended = failed && !failed.broken ? await runOn(client, [{ text: 'rollback', values: [] }]) : failed;
  client.release(ended && 'error' in ended ? (ended.error as Error) : undefined);
  return failed;
}

/** Never throws. */
async function takeAndWrite(client: pg.ClientBase, group: readonly WaitingForNumber[]): Promise<Failed | null> {
  const statements = [begin, group.length === 1 ? planOnce : planOnceAndHurry];
  const guarded = group.map((each) => ({ each, at: each.wish.guards.map((guard) => statements.push(guard) - 1) }));
  const accounts = [...new Set(group.map(({ wish }) => wish.accountId))].sort();
  const first = statements.length;
  const of = (accountId: string) => group.filter(({ wish }) => wish.accountId === accountId);
  const taken = await runOn(client, [...statements, ...accounts.map((accountId) => ({ text: takeNumbers, values: [accountId, of(accountId).length] }))]);
  if ('error' in taken) return { ...taken, broken: !isStatementError(taken.error), refused: guarded.find(({ at }) => at.includes(taken.failedAt))?.each };
  const written: { each: WaitingForNumber; statements: readonly Statement[] }[] = [];
  for (const [index, accountId] of accounts.entries()) {
    const those = of(accountId);
    const next = Number(taken.rows[first + index]![0]!.last) - those.length + 1;
    for (const [offset, each] of those.entries()) {
      try {
        written.push({ each, statements: await each.wish.write(next + offset) });
      } catch (error) {
        return { error, broken: false, refused: each };
      }
    }
  }
  const { statements: last, parts } = together(written);
  const sent = await runOn(client, [...last, commit]);
  if (!('error' in sent)) return null;
  const refused = parts.filter(isAt(sent.failedAt));
  return { error: sent.error, broken: !isStatementError(sent.error), refused: refused.length === 1 ? refused[0]!.each.each : undefined };
}
