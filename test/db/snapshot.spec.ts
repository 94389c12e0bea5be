import { eq, sql } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { intentParts, intentWithParts } from '../../libs/db/payment.queries.js';
import { accounts, paymentIntents } from '../../libs/db/schema/index.js';
import { snapshot } from '../../libs/db/snapshot.js';
import { shared } from '../support/stack.js';

let database: Database;
let statements = 0;

beforeAll(() => {
  database = connect(shared.databaseUrlStaging, { max: 4, onError: () => undefined });
  database.pool.on('acquire', () => (statements += 1));
});
afterAll(() => database.close());

const now = new Date();
const nameOf = async (db: Database['db'], id: string) => (await db.select().from(accounts).where(eq(accounts.id, id)))[0]?.name;

describe('an answer that is made of several reads', () => {
  it('sees nothing of what commits between them, and all of it afterwards', async () => {
    const [one, other] = [newId(), newId()];
    await database.db.insert(accounts).values([one, other].map((id) => ({ id, name: 'before', execution: 'inline' as const, createdAt: now, updatedAt: now })));
    const seen = await snapshot(database.db, async (at) => {
      const first = await nameOf(at, one);
      await database.db.execute(sql`update accounts set name = 'after' where id in (${one}, ${other})`);
      return [first, await nameOf(at, other), await nameOf(database.db, other)];
    });
    expect(seen).toEqual(['before', 'before', 'after']);
    expect(await nameOf(database.db, other)).toBe('after');
  });

  it('writes nothing', async () => {
    await expect(snapshot(database.db, (at) => at.execute(sql`update accounts set name = name`))).rejects.toMatchObject({ cause: { code: '25006' } });
  });
});

describe('a payment intent with its charges and refunds', () => {
  it('is one statement, so that its status never stands beside the charges of another moment', async () => {
    const row = {
      id: newId(), accountId: newId(), amountAtom: 100, currency: 'eur', status: 'requires_confirmation' as const, initiator: 'customer' as const,
      reference: newId(), driver: 'api' as const, settled: true, createdAt: now, updatedAt: now,
    };
    await database.db.insert(paymentIntents).values(row);
    statements = 0;
    const found = await intentWithParts(database.db, row.accountId, row.id);
    expect(statements).toBe(1);
    expect(found).toMatchObject({ row: { id: row.id }, parts: { chargeIds: [], refundIds: [], processorKind: null, processorPaymentId: null } });
    expect(await intentWithParts(database.db, newId(), row.id)).toBeNull();
    expect((await intentParts(database.db, [row.id])).get(row.id)).toEqual(found?.parts);
  });
});
