import type pg from 'pg';
import { runOn, type Statement } from './batch.js';
import type { Tx } from './client.js';

const deferred = new WeakMap<Tx, Statement[]>();

/**
 * Runs `work` and then sends, in one round trip and in their order, the statements that it left for the end: nobody waits for a row
 * that it holds longer than that. @throws an error that `isStale` knows where a condition does not hold.
 */
export async function atTheEnd<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const statements: Statement[] = [];
  deferred.set(tx, statements);
  try {
    const result = await work();
    const sent = await runOn(clientOf(tx), statements);
    if ('error' in sent) throw sent.error;
    return result;
  } finally {
    deferred.delete(tx);
  }
}

/** Leaves the statement for the end; false where the transaction has no such end, and the caller writes at once. */
export function defer(tx: Tx, make: () => Statement): boolean {
  const statements = deferred.get(tx);
  statements?.push(make());
  return statements !== undefined;
}

function clientOf(tx: Tx): pg.ClientBase {
  return (tx as unknown as { session: { client: pg.ClientBase } }).session.client;
}
