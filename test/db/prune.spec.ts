import { inArray } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { pruneCallbacks } from '../../libs/db/processor-callback.writes.js';
import { processorCallbacks } from '../../libs/db/schema/index.js';
import { shared } from '../support/stack.js';

const day = 86_400_000;
let database: Database;

beforeAll(() => {
  database = connect(shared.databaseUrlStaging, { max: 4 });
});
afterAll(() => database.close());

async function stored(ageDays: number, applied: boolean): Promise<string> {
  const id = newId();
  const receivedAt = new Date(Date.now() - ageDays * day);
  await database.db.insert(processorCallbacks).values({
    id,
    accountId: newId(),
    processorId: newId(),
    eventId: id,
    eventType: 'payment.updated',
    bodySealed: '',
    receivedAt,
    appliedAt: applied ? receivedAt : null,
  });
  return id;
}

async function left(ids: string[]): Promise<string[]> {
  const rows = await database.db.select({ id: processorCallbacks.id }).from(processorCallbacks).where(inArray(processorCallbacks.id, ids));
  return ids.filter((id) => rows.some((row) => row.id === id));
}

describe('pruning callbacks', () => {
  it('removes what was applied long ago, in batches, and nothing that still waits', async () => {
    const old = await Promise.all(Array.from({ length: 5 }, () => stored(3_000, true)));
    const [waiting, young] = [await stored(3_000, false), await stored(89, true)];
    const options = { olderThanMs: 2_900 * day, limit: 3 };
    expect([await pruneCallbacks(database.db, options), (await left(old)).length]).toEqual([3, 2]);
    expect([await pruneCallbacks(database.db, options), await pruneCallbacks(database.db, options)]).toEqual([2, 0]);
    expect(await left([...old, waiting, young])).toEqual([waiting, young]);
  });

  it('several at once take different rows', async () => {
    const old = await Promise.all(Array.from({ length: 8 }, () => stored(5_000, true)));
    const gone = await Promise.all(Array.from({ length: 4 }, () => pruneCallbacks(database.db, { olderThanMs: 4_900 * day, limit: 2 })));
    expect(gone.reduce((sum, count) => sum + count, 0) + (await left(old)).length).toBe(8);
  });
});
