import type { Row, Statement } from './batch.js';
import { insertText } from './statement.js';

/** Rows in one insert: few sizes, so that few texts are prepared. */
const insertSizes = [32, 16, 8, 4, 2, 1] as const;

/** Where a statement's rows are answered; `at`: which of them, where it was sent with others'. */
interface Place {
  index: number;
  at?: number;
}

interface Part<Each> {
  each: Each;
  /** By statement; null: an insert, sent with others'. */
  at: (Place | null)[];
}

/** Whether a part's rows, or its refusal, stand at this statement. */
export function isAt(index: number): (part: Part<unknown>) => boolean {
  return ({ at }) => at.some((place) => place?.index === index);
}

export function rowsAt(place: Place | null, answers: readonly Row[][]): Row[] {
  if (!place) return [];
  const rows = answers[place.index]!;
  return place.at === undefined ? rows : rows.filter((row) => row.at === place.at);
}

/**
 * The statements of several batches: plain inserts into the same columns made one, listed ones with the same text too, and guards that
 * ask the same asked once. Inserts come first, in the order in which the batches have them, and guards last: a check that must see what
 * is committed while this transaction has begun to write stays behind a write.
 */
export function together<Each extends { statements: readonly Statement[] }>(group: readonly Each[]): { statements: Statement[]; parts: Part<Each>[] } {
  const statements: Statement[] = mergedInserts(group.map((each) => each.statements.filter(({ insert }) => insert)));
  const guards: Statement[] = [];
  const shared: Shared = new Map();
  const lists = new Map<string, { index: number; values: unknown[][] }>();
  const placed = (statement: Statement): Place | null => {
    if (statement.insert) return null;
    if (statement.guard) return { index: sharedIndex(shared, guards, statement) };
    return statement.listed ? listedPlace(lists, statements, statement) : { index: statements.push(statement) - 1 };
  };
  const parts = group.map((each) => ({ each, at: each.statements.map(placed) }));
  const before = statements.length;
  for (const { each, at } of parts) each.statements.forEach(({ guard }, which) => { if (guard) at[which] = { index: before + at[which]!.index }; });
  return { statements: [...statements, ...guards], parts };
}

/** Where a guard stands: by its text, then by its values. */
type Shared = Map<string, Map<string, number>>;

function sharedIndex(known: Shared, guards: Statement[], statement: Statement): number {
  let alike = known.get(statement.text);
  if (!alike) known.set(statement.text, (alike = new Map()));
  const values = JSON.stringify(statement.values);
  const index = alike.get(values) ?? guards.push(statement) - 1;
  alike.set(values, index);
  return index;
}

function listedPlace(lists: Map<string, { index: number; values: unknown[][] }>, statements: Statement[], { text, values }: Statement): Place {
  let list = lists.get(text);
  if (!list) {
    list = { index: statements.length, values: values.map(() => []) };
    lists.set(text, list);
    statements.push({ text, values: list.values });
  }
  for (const [which, value] of values.entries()) list.values[which]!.push(...(value as unknown[]));
  return { index: list.index, at: list.values[0]!.length };
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
