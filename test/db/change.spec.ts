import { eq } from 'drizzle-orm';
import { transact } from '../../libs/db/change.js';
import { connect, type Database, type Tx } from '../../libs/db/client.js';
import { oncePerCommand } from '../../libs/db/command.writes.js';
import { appendEvents, previousValues } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { accounts, events, idempotencyKeys, webhookDeliveries, webhookEndpoints } from '../../libs/db/schema/index.js';
import type { Change, Claim } from '../../libs/domain/change/change.js';
import { publicId } from '../../libs/views/ids.js';
import { shared } from '../support/stack.js';

let database: Database;

beforeAll(() => {
  database = connect(shared.databaseUrlStaging);
});
afterAll(() => database.close());

async function freshAccount(): Promise<string> {
  const id = newId();
  const now = new Date();
  await database.db.insert(accounts).values({ id, name: 'change spec', createdAt: now, updatedAt: now });
  return id;
}

function changeOf(accountId: string, claim: Claim | null = null): Change {
  return { accountId, environment: 'staging', actor: null, requestId: null, idempotencyKey: claim?.key ?? null, commandId: newId(), clockTime: null, claim };
}

function claimOf(key: string): Claim {
  return { key, fingerprint: 'f', tokenId: newId(), owner: newId(), objectId: null };
}

async function endpoint(accountId: string, enabledEvents: string[], status: 'enabled' | 'disabled' = 'enabled'): Promise<string> {
  const id = newId();
  const now = new Date();
  await database.db.insert(webhookEndpoints).values({ id, accountId, url: 'http://127.0.0.1:9/', enabledEvents, status, createdAt: now, updatedAt: now });
  return id;
}

const touch = (tx: Tx, change: Change, objectId: string, step = '') =>
  appendEvents(tx, change, [{ type: 'customer.updated', kind: 'cus', objectId, data: { id: 'x', name: 'é' }, previous: { name: 'e' }, step }]);

describe('a change', () => {
  it('writes its event and one delivery per endpoint that hears it, with bytes that do not change', async () => {
    const accountId = await freshAccount();
    const all = await endpoint(accountId, ['*']);
    const customers = await endpoint(accountId, ['customer.*']);
    await endpoint(accountId, ['charge.*']);
    await endpoint(accountId, ['*'], 'disabled');
    const objectId = newId();
    const change = changeOf(accountId);
    await transact(database.db, change, (tx) => touch(tx, change, objectId));

    const [event] = await database.db.select().from(events).where(eq(events.objectId, objectId));
    const deliveries = await database.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.eventId, event!.id));
    expect(deliveries.map((delivery) => delivery.endpointId).sort()).toEqual([all, customers].sort());
    expect(event!.data).toBe('{"id":"x","name":"é"}');
    const head = JSON.parse(event!.head) as Record<string, unknown>;
    expect(head).toMatchObject({ id: publicId('event', 'staging', event!.id), object: 'event', sequence: 1, pending_webhooks: 2 });
    expect(Object.values(head).every((value) => value === null || typeof value === 'string' || typeof value === 'number')).toBe(true);
  });

  it('keeps an event small however large its object is', async () => {
    const change = changeOf(await freshAccount());
    const objectId = newId();
    const lines = Array.from({ length: 100 }, (_, index) => ({ id: `ii_${index}`, note: 'x'.repeat(900) }));
    await transact(database.db, change, (tx) => appendEvents(tx, change, [{ type: 'invoice.created', kind: 'inv', objectId, data: { id: 'in_1', lines }, previous: null }]));
    const [event] = await database.db.select().from(events).where(eq(events.objectId, objectId));
    expect(JSON.parse(event!.data)).toEqual({ id: 'in_1', lines: lines.map(({ id }) => id), reduced_keys: ['lines'] });
  });

  it('leaves nothing behind when it fails', async () => {
    const accountId = await freshAccount();
    const objectId = newId();
    const change = changeOf(accountId, claimOf('failing'));
    const failing = transact(database.db, change, async (tx) => {
      await touch(tx, change, objectId);
      throw new Error('the process could have died here');
    });
    await expect(failing).rejects.toThrow('died here');
    expect(await database.db.select().from(events).where(eq(events.objectId, objectId))).toEqual([]);
    expect(await database.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.accountId, accountId))).toEqual([]);
  });

  it('takes effect once however often its command runs, also at the same time', async () => {
    const accountId = await freshAccount();
    const objectId = newId();
    const change = changeOf(accountId);
    const run = () =>
      transact(database.db, change, (tx) =>
        oncePerCommand(tx, change, { objectId }, async () => {
          await touch(tx, change, objectId);
          return { done: true };
        }),
      );
    const outcomes = await Promise.allSettled([run(), run(), run()]);
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    await expect(run()).resolves.toEqual({ done: true });
    expect(await database.db.select().from(events).where(eq(events.objectId, objectId))).toHaveLength(1);
  });

  it('numbers an object\'s events without a gap', async () => {
    const accountId = await freshAccount();
    const objectId = newId();
    for (let n = 0; n < 3; n += 1) {
      const change = changeOf(accountId);
      await transact(database.db, change, (tx) => touch(tx, change, objectId));
    }
    const both = changeOf(accountId);
    await transact(database.db, both, (tx) =>
      appendEvents(tx, both, [
        { type: 'customer.updated', kind: 'cus', objectId, data: {}, previous: {} },
        { type: 'customer.deleted', kind: 'cus', objectId, data: {}, previous: {} },
      ]),
    );
    const rows = await database.db.select({ sequence: events.sequence }).from(events).where(eq(events.objectId, objectId));
    expect(rows.map((row) => row.sequence).sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('holds its idempotency key: another command with the same key is refused, the same command goes on', async () => {
    const accountId = await freshAccount();
    const first = changeOf(accountId, claimOf('k'));
    await transact(database.db, first, async () => undefined);
    await transact(database.db, first, async () => undefined);
    const second = changeOf(accountId, claimOf('k'));
    await expect(transact(database.db, second, async () => undefined)).rejects.toMatchObject({ code: 'idempotency_key_in_use' });
    expect(await database.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.accountId, accountId))).toHaveLength(1);
  });

  it('names only the keys that changed in data_previous', () => {
    expect(previousValues({ a: 1, b: { c: 2 }, d: null }, { a: 1, b: { c: 3 }, d: null })).toEqual({ b: { c: 2 } });
  });
});
