import type { Db } from './client.js';

/**
 * Reads that make up one answer see one moment of the database, so that nothing that commits meanwhile shows in a part of them only.
 * Nothing can be written in it, and nothing is locked.
 */
export function snapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  return db.transaction((tx) => read(tx as unknown as Db), { isolationLevel: 'repeatable read', accessMode: 'read only' });
}
