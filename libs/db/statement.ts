import { getTableColumns, getTableName, is, SQL, type InferInsertModel } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { InsertShape, Row, Statement } from './batch.js';

/** Text that is not a parameter, such as `clock_timestamp()`. It takes none. */
export class Literal {
  constructor(readonly text: string) {}
}

export const clockTimestamp = new Literal('clock_timestamp()');

type Value<T> = T | Literal;
export type Values<Table extends PgTable> = { [K in keyof InferInsertModel<Table>]?: Value<InferInsertModel<Table>[K]> };

interface Shape {
  name: string;
  columns: Map<string, { name: string; column: PgColumn }>;
  /** By their keys, as inserts so far had them: few. */
  inserts: InsertKeys[];
}

interface InsertKeys {
  keys: readonly string[];
  columns: readonly PgColumn[];
  /** `insert into "table" ("column", …) values`. */
  into: string;
  /** `(?, ?, …)`. */
  plainRow: string;
}

const shapes = new Map<PgTable, Shape>();

function shapeOf(table: PgTable): Shape {
  let shape = shapes.get(table);
  if (!shape) {
    const columns = Object.entries(getTableColumns(table)).map(([key, column]) => [key, { name: snake(key), column: column as PgColumn }] as const);
    shape = { name: getTableName(table), columns: new Map(columns), inserts: [] };
    shapes.set(table, shape);
  }
  return shape;
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const texts = new Map<string, string>();

/** Most texts that are kept, and kinds of insert per table: shapes of statements are few. */
const mostTexts = 2_000;
const mostInserts = 20;

function textOf(key: string, make: () => string): string {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = make();
  if (texts.size < mostTexts) texts.set(key, text);
  return text;
}

/** Inserts rows that all have the same keys; what is undefined takes its default. */
export function insertStatement<Table extends PgTable>(table: Table, rows: readonly Values<Table>[]): Statement {
  const { keys, columns, into, plainRow } = insertKeys(table, rows[0]!);
  const values: unknown[] = [];
  const patterns = rows.map((row) => {
    const before = values.length;
    const cells = keys.map((key, index) => cell(columns[index]!, row[key as keyof Values<Table>], values));
    return values.length - before === keys.length ? plainRow : `(${cells.join(', ')})`;
  });
  const [first] = patterns as [string];
  const insert = patterns.every((each) => each === first) ? { into, row: first, rows: rows.length } : undefined;
  return { text: insert ? insertText(insert) : numbered(`${into} ${patterns.join(', ')}`), values, ...(insert ? { insert } : {}) };
}

function insertKeys(table: PgTable, row: object): InsertKeys {
  const { name, columns, inserts } = shapeOf(table);
  const keys = Object.keys(row).filter((key) => row[key as keyof typeof row] !== undefined);
  const known = inserts.find((each) => each.keys.length === keys.length && each.keys.every((key, index) => key === keys[index]));
  if (known) return known;
  const made = {
    keys,
    columns: keys.map((key) => columns.get(key)!.column),
    into: `insert into ${quoted(name)} (${keys.map((key) => quoted(columns.get(key)!.name)).join(', ')}) values`,
    plainRow: `(${keys.map(() => '?').join(', ')})`,
  };
  if (inserts.length < mostInserts) inserts.push(made);
  return made;
}

/** The text of an insert of so many rows. */
export function insertText({ into, row, rows }: InsertShape): string {
  return textOf(`insert ${rows} ${row} ${into}`, () => numbered(`${into} ${Array.from({ length: rows }, () => row).join(', ')}`));
}

/** Parameters are written as `?` until all are known. */
function numbered(text: string): string {
  let index = 0;
  return text.replace(/\?/g, () => `$${(index += 1)}`);
}

/** `where` is text with parameters `?`, which follow those of the new values. */
export function updateStatement<Table extends PgTable>(
  table: Table,
  set: Values<Table>,
  where: { text: string; values: readonly unknown[]; returning?: string },
): Statement {
  const { name, columns } = shapeOf(table);
  const keys = Object.keys(set).filter((key) => set[key as keyof Values<Table>] !== undefined);
  const values: unknown[] = [];
  const marks = keys.map((key) => `${quoted(columns.get(key)!.name)} = ${cell(columns.get(key)!.column, set[key as keyof Values<Table>], values)}`);
  values.push(...where.values);
  const text = textOf(`update ${name} ${marks.join(',')} ${where.text} ${where.returning ?? ''}`, () =>
    numbered(`update ${quoted(name)} set ${marks.join(', ')} where ${where.text}${where.returning ? ` returning ${where.returning}` : ''}`));
  return { text, values };
}

/** A row of `select *` that a batch answered, as the query builder answers it. */
export function rowOf<Table extends PgTable>(table: Table, row: Row): Table['$inferSelect'] {
  const read: Row = {};
  for (const [key, { name, column }] of shapeOf(table).columns) {
    const value = row[name];
    read[key] = value === null || value === undefined ? null : column.mapFromDriverValue(value);
  }
  return read as Table['$inferSelect'];
}

function cell(column: PgColumn, value: unknown, values: unknown[]): string {
  if (value instanceof Literal) return value.text;
  if (is(value, SQL)) throw new Error('a batch takes values and literals only');
  values.push(value === null || value === undefined ? null : column.mapToDriverValue(value));
  return '?';
}

function quoted(name: string): string {
  return `"${name}"`;
}
