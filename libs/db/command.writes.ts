import { and, eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Db, Tx } from './client.js';
import { commands } from './schema/index.js';

export interface CommandKey {
  objectId: string;
  /** Distinguishes several effects of one command on one object. */
  step?: string;
}

/** What this command already did to the object; undefined if it never ran. */
export async function findCommand<R>(db: Db | Tx, commandId: string, { objectId, step = '' }: CommandKey): Promise<R | undefined> {
  const [row] = await db
    .select({ result: commands.result })
    .from(commands)
    .where(and(eq(commands.commandId, commandId), eq(commands.objectId, objectId), eq(commands.step, step)));
  return row ? (row.result as R) : undefined;
}

/**
 * Runs `effect` once per command and object: a second run finds the stored result. Two runs at the same time: the later one
 * fails on the primary key, and its retry finds the result.
 */
export async function oncePerCommand<R>(tx: Tx, change: Change, key: CommandKey, effect: () => Promise<R>): Promise<R> {
  const known = await findCommand<R>(tx, change.commandId, key);
  if (known !== undefined) return known;
  const result = await effect();
  await tx.insert(commands).values({
    commandId: change.commandId,
    objectId: key.objectId,
    step: key.step ?? '',
    result: result ?? null,
    createdAt: new Date(),
  });
  return result;
}
