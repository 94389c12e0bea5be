import { LRUCache } from 'lru-cache';
import type { Db } from '../db/client.js';
import { eventFooting } from '../db/event.writes.js';

/** The account's endpoints as last seen; a batch that finds them changed writes nothing. */
const subscribers = new LRUCache<string, string>({ max: 5_000 });

/** Runs `write` with the endpoints as last seen; they are read again after a failure. */
export async function withSubscribers<T>(db: Db, accountId: string, write: (known: string) => Promise<T>): Promise<T> {
  const known = subscribers.get(accountId) ?? (await eventFooting(db, accountId, [])).subscribers;
  try {
    const written = await write(known);
    subscribers.set(accountId, known);
    return written;
  } catch (error) {
    subscribers.delete(accountId);
    throw error;
  }
}
