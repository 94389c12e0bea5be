import type pg from 'pg';
import { isStatementError, poolOf, runBatch, type Row, type Statement } from './batch.js';
import type { Db } from './client.js';
import { insertText } from './statement.js';

/** Transactions of one lane that are under way at once; what comes meanwhile waits and goes out together. */
const mostFlights = 2;
/** Batches in one transaction. */
const mostTogether = 24;
/** A transaction that takes longer no longer keeps others from leaving. */
const slowMs = 100;
/** How long batches that share a transaction wait for a row lock: then each goes alone, so that one payment never holds up another. */
const lockTimeoutMs = 250;
/** Rows in one insert: few sizes, so that few texts are prepared. */
const insertSizes = [32, 16, 8, 4, 2, 1] as const;

interface Waiting {
  statements: readonly Statement[];
  /** Row locks are taken in this order. */
  order: string;
  resolve(rows: Row[][]): void;
  reject(error: unknown): void;
}

type Kind = 'reads' | 'writes';

const lanes = new WeakMap<pg.Pool, Record<Kind, Lane>>();

/**
 * As `sendBatch`, but statements of callers that come at the same time share a transaction and its round trip. Each caller gets its
 * own rows or its own error: where one batch is refused, nothing of the others is written either, and they are sent again without it.
 * An error that is no `isStatementError` leaves open what happened, for all of them. An idle lane sends at once.
 * `order`: names the row that the batch locks, so that transactions lock in one order.
 */
export function writeTogether(db: Db, statements: readonly Statement[], order: string): Promise<Row[][]> {
  return laneOf(db, 'writes').send(statements, order);
}

/** Reads of callers that come at the same time, in one round trip. Each statement sees what was committed before it. */
export function readTogether(db: Db, statements: readonly Statement[]): Promise<Row[][]> {
  return laneOf(db, 'reads').send(statements, '');
}

function laneOf(db: Db, kind: Kind): Lane {
  const pool = poolOf(db);
  let known = lanes.get(pool);
  if (!known) {
    known = { reads: new Lane(pool), writes: new Lane(pool) };
    lanes.set(pool, known);
  }
  return known[kind];
}

class Lane {
  private readonly waiting: Waiting[] = [];
  private flights = 0;
  private leaving = false;

  constructor(private readonly pool: pg.Pool) {}

  send(statements: readonly Statement[], order: string): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ statements, order, resolve, reject });
      this.leave();
    });
  }

  /** What the same turn of the event loop brings leaves together. */
  private leave(): void {
    if (this.leaving || this.waiting.length === 0 || this.flights >= mostFlights) return;
    this.leaving = true;
    setImmediate(() => {
      this.leaving = false;
      while (this.waiting.length > 0 && this.flights < mostFlights) void this.fly(this.waiting.splice(0, mostTogether));
    });
  }

  private async fly(group: Waiting[]): Promise<void> {
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

  private async run(group: Waiting[]): Promise<void> {
    if (group.length === 1) return this.runAlone(group[0]!);
    const { statements, parts } = together(group.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0)));
    const sent = await runBatch(this.pool, statements);
    if (!('error' in sent)) {
      for (const { each, at } of parts) each.resolve(at.map((index) => (index === null ? [] : sent.rows[index]!)));
    } else if (isStatementError(sent.error)) {
      const refused = parts.filter(({ at }) => at.includes(sent.failedAt)).map(({ each }) => each);
      const others = group.filter((each) => !refused.includes(each));
      await Promise.all(refused.length === 1 ? [this.run(refused), this.run(others)] : group.map((each) => this.runAlone(each)));
    } else {
      for (const each of group) each.reject(sent.error);
    }
  }

  private async runAlone({ statements, resolve, reject }: Waiting): Promise<void> {
    const sent = await runBatch(this.pool, [planOnce, ...statements]);
    if ('error' in sent) reject(sent.error);
    else resolve(sent.rows.slice(1));
  }
}

/** Statements of a batch are planned once per connection: planning for the values at hand costs more than these run. */
const planOnce: Statement = { text: `select set_config('plan_cache_mode', 'force_generic_plan', true)`, values: [] };
const planOnceAndHurry: Statement = {
  text: `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('lock_timeout', '${lockTimeoutMs}ms', true)`,
  values: [],
};

interface Part {
  each: Waiting;
  /** By statement, where its rows are answered; null: an insert, sent with others'. */
  at: (number | null)[];
}

/**
 * The statements of several batches, plain inserts into the same columns made one. Inserts come first, in the order in which the
 * batches have them: a check that must see what is committed while this transaction has begun to write stays behind a write.
 */
function together(group: readonly Waiting[]): { statements: Statement[]; parts: Part[] } {
  const inserts = mergedInserts(group.map(({ statements }) => statements.filter((each) => each.insert)));
  const statements: Statement[] = [planOnceAndHurry, ...inserts];
  const parts = group.map((each) => ({
    each,
    at: each.statements.map((statement) => (statement.insert ? null : statements.push(statement) - 1)),
  }));
  return { statements, parts };
}

function mergedInserts(lists: readonly Statement[][]): Statement[] {
  const order: string[] = [];
  const byKey = new Map<string, Statement[]>();
  for (const list of lists) {
    let after = 0;
    for (const statement of list) {
      const key = `${statement.insert!.into} ${statement.insert!.row}`;
      const same = byKey.get(key);
      if (same) {
        same.push(statement);
        after = Math.max(after, order.indexOf(key) + 1);
      } else {
        byKey.set(key, [statement]);
        order.splice(after, 0, key);
        after += 1;
      }
    }
  }
  return order.flatMap((key) => inSizes(byKey.get(key)!));
}

function inSizes(same: readonly Statement[]): Statement[] {
  const values = same.flatMap((statement) => statement.values);
  const { into, row } = same[0]!.insert!;
  let left = same.reduce((sum, statement) => sum + statement.insert!.rows, 0);
  const width = values.length / left;
  const sized: Statement[] = [];
  let from = 0;
  while (left > 0) {
    const rows = insertSizes.find((size) => size <= left)!;
    sized.push({ text: insertText({ into, row, rows }), values: values.slice(from, from + rows * width) });
    from += rows * width;
    left -= rows;
  }
  return sized;
}
