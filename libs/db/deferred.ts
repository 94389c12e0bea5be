import type pg from 'pg';
import { runOn, type Statement } from './batch.js';
import { gatherCallbacks } from './change.js';
import type { Tx } from './client.js';

const deferred = new WeakMap<Tx, Statement[]>();
const collecting = new WeakSet<Tx>();

/** Something can only be read or written in a real transaction. */
export class NeedsTransaction extends Error {}

export interface Collected<T> {
  result: T;
  statements: Statement[];
  /** To be called once they are written. */
  afterwards: () => void;
}

/**
 * Runs `work` without a database: what it writes is left for the caller, in its order. Everything that `work` reads must be known.
 * @throws NeedsTransaction where it asks for more than `defer` can leave.
 */
export async function collect<T>(work: (tx: Tx) => Promise<T>): Promise<Collected<T>> {
  const tx = new Proxy({}, { get: () => { throw new NeedsTransaction(); } }) as Tx;
  const statements: Statement[] = [];
  deferred.set(tx, statements);
  collecting.add(tx);
  return { ...(await gatherCallbacks(tx, () => work(tx))), statements };
}

/** Whether nothing can be read: every write is left for the caller, with the condition that it stands on. */
export function isCollecting(tx: Tx): boolean {
  return collecting.has(tx);
}

/** Leaves the statement for the end; false where the transaction has no such end, and the caller writes at once. */
export function defer(tx: Tx, make: () => Statement): boolean {
  const statements = deferred.get(tx);
  statements?.push(make());
  return statements !== undefined;
}

/** Leaves the statement for the end, or sends it at once. */
export async function deferOrSend(tx: Tx, statement: Statement): Promise<void> {
  if (defer(tx, () => statement)) return;
  const sent = await runOn(clientOf(tx), [statement]);
  if ('error' in sent) throw sent.error;
}

function clientOf(tx: Tx): pg.ClientBase {
  return (tx as unknown as { session: { client: pg.ClientBase } }).session.client;
}
