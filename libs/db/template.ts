import type { SQL } from 'drizzle-orm';
import { sql } from 'drizzle-orm';
import { statementOf, type Statement } from './batch.js';
import type { Db } from './client.js';

/** A place in a template where a value is filled in. */
class Slot {
  constructor(readonly name: string) {}
}

export function slot(name: string): SQL {
  return sql`${sql.param(new Slot(name))}`;
}

/** Renders a statement with slots once; what it answers fills them in. */
export function template<Name extends string>(query: SQL): (db: Db, values: Record<Name, unknown>) => Statement {
  let rendered: Statement | null = null;
  return (db, values) => {
    rendered ??= statementOf(db, query);
    return { text: rendered.text, values: rendered.values.map((value) => (value instanceof Slot ? values[value.name as Name] : value)) };
  };
}
