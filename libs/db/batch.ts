import { sql, type SQL } from 'drizzle-orm';
import pg from 'pg';
import type { Db } from './client.js';
import { countStatements } from './prepared-client.js';

/** A statement with its values in the form that the driver sends. */
export interface Statement {
  text: string;
  values: readonly unknown[];
  /** Of a plain insert: rows of several with the same text can be sent as one statement. */
  insert?: InsertShape;
  /** Reads only, and ends the transaction where its condition does not hold: those that ask the same are asked once, after all writes. */
  guard?: true;
  /** Every value is a list of one, and each row tells in `at` (from 1) whose it is: several with the same text can be sent as one. */
  listed?: true;
}

/** The rest of the transaction goes by keys, also where a plan for so small a table would read all of it; compiling such a plan costs more than it takes. */
export const byKeys = `select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`;

/**
 * Statements after it are planned once per connection: planning for the values at hand costs more than they take. They go by keys: a
 * plan that was made while a table was small must not read all of it when it is large.
 */
export const planOnce: Statement = { text: `${byKeys}, set_config('plan_cache_mode', 'force_generic_plan', true)`, values: [] };

export interface InsertShape {
  /** `insert into "table" ("column", …) values`. */
  into: string;
  /** `(?, ?, …)`, the same for every row. */
  row: string;
  rows: number;
}

export type Row = Record<string, unknown>;

/**
 * Sends statements in one go and waits once: they run in one transaction of their own, so that either all of them count or none.
 * A statement that finds a broken condition ends the transaction by an error of its own (`orFail`).
 * @returns the rows of each statement. @throws the first statement's error that failed; nothing was written then.
 */
export async function sendBatch(db: Db, statements: readonly Statement[]): Promise<Row[][]> {
  const sent = await runBatch(poolOf(db), statements);
  if ('error' in sent) throw sent.error;
  return sent.rows;
}

/** What came of a batch; `failedAt`: the statement that Postgres was at. */
export type Sent = { rows: Row[][] } | { error: unknown; failedAt: number };

/** Never throws. */
export async function runBatch(pool: pg.Pool, statements: readonly Statement[]): Promise<Sent> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    return { error, failedAt: 0 };
  }
  const sent = await runOn(client, statements);
  client.release('error' in sent && !isStatementError(sent.error) ? (sent.error as Error) : undefined);
  return sent;
}

/** The same on a connection, inside the transaction that it has begun. Never throws. */
export function runOn(client: pg.ClientBase, statements: readonly Statement[]): Promise<Sent> {
  return new Promise<Sent>((resolve) => {
    client.query(new Batch(statements, resolve) as unknown as pg.Submittable);
  }).catch((error: unknown) => ({ error, failedAt: 0 }));
}

/** A condition or statement written with the query builder. */
export function statementOf(db: Db, query: SQL): Statement {
  const { sql: text, params: values } = (db as unknown as { dialect: { sqlToQuery(query: SQL): { sql: string; params: unknown[] } } }).dialect.sqlToQuery(query);
  return { text, values };
}

/**
 * A statement whose text is built once. `build` gets a placeholder for each key where a value would stand, and may only put it into
 * the text.
 */
export function builtOnce<Values extends object>(keys: readonly (keyof Values & string)[], build: (marks: Values) => SQL): (db: Db, values: Values) => Statement {
  let built: { text: string; order: (keyof Values)[] } | undefined;
  return (db, values) => {
    if (!built) {
      const marks = Object.fromEntries(keys.map((key) => [key, sql.placeholder(key)]));
      const { text, values: params } = statementOf(db, build(marks as Values));
      built = { text, order: params.map((param) => (param as { name: keyof Values }).name) };
    }
    return { text: built.text, values: built.order.map((key) => values[key]) };
  };
}

export function poolOf(db: Db): pg.Pool {
  return (db as unknown as { $client: pg.Pool }).$client;
}

/** Postgres refused a statement: nothing was written. Any other error leaves open what happened, and ends the connection. */
export function isStatementError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}

/** SQLSTATE of a condition that did not hold: `invalid_text_representation`, raised by `orFail`. */
const conditionFailed = '22P02';

/** Whether the batch found the rows other than it expected, or rows that were there already: read again and decide anew. */
export function isStale(error: unknown): boolean {
  return isStatementError(error) && (error.code === conditionFailed || error.code === '23505');
}

/**
 * Wraps a statement so that the whole batch fails unless it touches a row. `columns`: what of its `returning` row is answered.
 */
export function orFail(statement: Statement, columns: readonly string[]): Statement {
  const answer = columns.map((column) => `(array_agg(${column}))[1] as ${column}`);
  const touched = `case when count(*) = 0 then ('nothing' || count(*))::boolean else true end as touched`;
  return { text: `with touched as (${statement.text}) select ${[touched, ...answer].join(', ')} from touched`, values: statement.values };
}

interface Connection {
  parse(query: { text: string; name: string }): void;
  bind(query: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(target: { type: 'P'; name: string }): void;
  execute(query: { portal: string; rows: number | null }): void;
  sync(): void;
  stream: { cork(): void; uncork(): void };
}

interface Field {
  name: string;
  dataTypeID: number;
  format: 'text' | 'binary';
}

type Parser = (value: string) => unknown;

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;
const prepared = new WeakMap<Connection, Map<string, string>>();
let names = 0;

/** The driver's `Submittable`: it calls these methods with what Postgres answers. */
class Batch {
  private readonly results: Row[][];
  private fields: { name: string; parse: Parser }[] = [];
  private at = 0;
  private fresh: { text: string; name: string }[] = [];
  private connection: Connection | null = null;

  constructor(
    private readonly statements: readonly Statement[],
    private readonly done: (sent: Sent) => void,
  ) {
    this.results = statements.map(() => []);
  }

  submit(connection: Connection): void {
    this.connection = connection;
    countStatements(this.statements.length - 1);
    const known = prepared.get(connection) ?? new Map<string, string>();
    prepared.set(connection, known);
    connection.stream.cork();
    try {
      for (const { text, values } of this.statements) {
        const name = known.get(text) ?? this.parse(connection, text);
        connection.bind({ statement: name, values, valueMapper: prepareValue });
        connection.describe({ type: 'P', name: '' });
        connection.execute({ portal: '', rows: null });
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  private parse(connection: Connection, text: string): string {
    const again = this.fresh.find((each) => each.text === text);
    if (again) return again.name;
    const name = `b${(names += 1)}`;
    this.fresh.push({ text, name });
    connection.parse({ text, name });
    return name;
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.fields = fields.map((field) => ({ name: field.name, parse: pg.types.getTypeParser(field.dataTypeID, 'text') as Parser }));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Row = {};
    this.fields.forEach(({ name, parse }, index) => {
      const value = fields[index];
      row[name] = value == null ? null : parse(value);
    });
    this.results[this.at]!.push(row);
  }

  handleCommandComplete(): void {
    this.at += 1;
  }

  handleEmptyQuery(): void {
    this.at += 1;
  }

  handlePortalSuspended(): void {
    throw new Error('a batch reads all rows');
  }

  handleReadyForQuery(): void {
    const known = prepared.get(this.connection!)!;
    for (const { text, name } of this.fresh) known.set(text, name);
    this.done({ rows: this.results });
  }

  /** What was parsed in a batch that failed is parsed again under another name. */
  handleError(error: Error): void {
    this.done({ error, failedAt: this.at });
  }
}
