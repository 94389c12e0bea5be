import { and, count, eq, gt, lt, sql } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Db, type Tx } from '../../libs/db/client.js';
import { pageOfAttempts, pageOfDeliveries } from '../../libs/db/delivery-list.queries.js';
import { deliveryAttempts, dueDeliveries, pendingCounts } from '../../libs/db/delivery.queries.js';
import { recordAttempts } from '../../libs/db/delivery.writes.js';
import { claimEndpointsToWake, leaveDrain, putOffFreshDeliveries } from '../../libs/db/drain.writes.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newsSince, scanEvents, type EventScan, type EventSelection } from '../../libs/db/event-scan.queries.js';
import { firstIdOf, newId } from '../../libs/db/mint.js';
import { pruneAttempts, prunedBody, pruneDeliveries, pruneEmails, pruneJobs, prunePayloads, type Batch, type Pruned } from '../../libs/db/retention.writes.js';
import { attentionItems, emails, events, webhookAttempts, webhookDeliveries, type WebhookEndpointRow, type WebhookJobRow } from '../../libs/db/schema/index.js';
import { failedDeliveries, missedEvents, outstandingOf } from '../../libs/db/webhook-job.candidates.js';
import { deliveredAttempt, openLarge, type Large } from './large.stage.js';

/** `SIGNALBOX_ROWS=2000000` measures by hand what these few only plan. */
const rows = Number(process.env.SIGNALBOX_ROWS ?? 10_000);
const measured = rows > 100_000;
const day = 86_400_000;
const hours = (count: number) => new Date(Date.now() - count * 3_600_000);
let large: Large;

beforeAll(async () => { large = await openLarge(rows); }, 1_800_000);
afterAll(() => large?.close(), 60_000);

/** Tables that grow for ever, or hold a queue: none may be read from end to end. */
const grown = /Seq Scan on (webhook_deliveries|webhook_attempts|events|emails)/;
const limit = 25;

const objectOf = async (db: Db) => (await db.select().from(events).orderBy(events.id).limit(1))[0]!;

const scan = (db: Db, selection: Partial<EventSelection>, order: EventScan['order'] = 'newest first') =>
  scanEvents(db, large.account, { selection: { types: null, ...selection }, order, after: null, limit });

const works: [string, (db: Db) => Promise<unknown>][] = [
  ['claims endpoints to wake', (db) => claimEndpointsToWake(db, 8)],
  ['takes a page that is due, out of a backlog', (db) => dueDeliveries(db, large.behind, { limit: 200, except: [], under: { epoch: 0, version: 1 } })],
  ['takes the oldest that failed before', (db) => dueDeliveries(db, large.calm, { limit: 1, except: [], triedFirst: true })],
  ['asks when the next is due', (db) => leaveDrain(db, { endpointId: large.behind, epoch: 0 })],
  ['puts off what is fresh', (db) => putOffFreshDeliveries(db, large.behind)],
  ['records attempts', async (db) => db.transaction(async (tx) => {
    const page = await dueDeliveries(tx as unknown as Db, large.behind, { limit: 50, except: [] });
    await recordAttempts(tx as Tx, { endpointId: large.behind, epoch: 0 }, page.map(({ id }) => deliveredAttempt(id)));
  })],
  ['counts what waits of events', async (db) => pendingCounts(db, [(await objectOf(db)).id])],
  ['lists an account\'s deliveries', (db) => pageOfDeliveries(db, large.account, { filter: {}, limit, before: null })],
  ['lists those of an endpoint that failed', (db) => pageOfDeliveries(db, large.account, { filter: { endpointId: large.busy, status: 'exhausted' }, limit, before: null })],
  ['lists those of a backlog', (db) => pageOfDeliveries(db, large.account, { filter: { endpointId: large.behind, status: 'pending' }, limit, before: null })],
  ['lists those of an object', async (db) => pageOfDeliveries(db, large.account, { filter: { objectId: (await objectOf(db)).objectId }, limit, before: null })],
  ['lists those of a day long ago', (db) => pageOfDeliveries(db, large.account, { filter: { since: hours(1201), until: hours(1200) }, limit, before: null })],
  ['lists an account\'s attempts', (db) => pageOfAttempts(db, large.account, { filter: {}, limit, before: null })],
  ['lists an endpoint\'s attempts that failed', (db) => pageOfAttempts(db, large.account, { filter: { endpointId: large.busy, succeeded: false }, limit, before: null })],
  ['lists an object\'s attempts', async (db) => pageOfAttempts(db, large.account, { filter: { objectId: (await objectOf(db)).objectId }, limit, before: null })],
  ['lists a delivery\'s attempts', async (db) => deliveryAttempts(db, large.account, (await db.select().from(webhookDeliveries).orderBy(webhookDeliveries.id).limit(1))[0]!.id)],
  ['looks for what a range missed', (db) => missedEvents(db as unknown as Tx, job(), endpoint(), { environment: 'production', position: null, scan: 2000, take: 500 })],
  ['looks for what failed', (db) => failedDeliveries(db as unknown as Tx, job(), { position: null, scan: 2000, take: 500 })],
  ['looks for what waits after a failure', (db) => failedDeliveries(db as unknown as Tx, job(), { position: { waiting: 'yes' }, scan: 2000, take: 500 })],
  ['lists an account\'s events', (db) => scan(db, {})],
  ['lists events of a few types', (db) => scan(db, { types: ['charge.failed', 'charge.refunded', 'customer.created'] })],
  ['lists an object\'s events', async (db) => scan(db, { objectId: (await objectOf(db)).objectId })],
  ['lists a customer\'s events', async (db) => scan(db, { customerId: (await objectOf(db)).customerId! })],
  ['lists events of an hour long ago', (db) => scan(db, { since: hours(1201), until: hours(1200) })],
  ['lists a customer\'s events of one type, oldest first', async (db) => scan(db, { customerId: (await objectOf(db)).customerId!, types: ['customer.updated'] }, 'oldest first')],
  ['searches events by a text that is nowhere', (db) => scan(db, { text: 'nothing such' })],
  ['searches events of one type by a text, oldest first', (db) => scan(db, { types: ['charge.failed'], text: 'nothing such' }, 'oldest first')],
  ['begins a stream of a few types', (db) => scan(db, { types: ['charge.failed'], withoutSensitive: true }, 'oldest first')],
  ['asks whose events are new', (db) => newsSince(db, '1', [large.account, large.busy])],
  ['counts what a job has in the queue', (db) => outstandingOf(db as unknown as Tx, large.busy)],
];

const endpoint = () => ({ id: large.busy, enabledEvents: ['*'], filter: null }) as unknown as WebhookEndpointRow;
const job = () => ({ id: large.busy, accountId: large.account, endpointId: large.busy, since: hours(24 * 30), until: new Date() }) as WebhookJobRow;

describe('with many rows', () => {
  it.each(works)('%s by an index', async (what, work) => {
    const { plan, ms } = await large.watch(work);
    if (measured) process.stdout.write(`${rows} rows: ${what}: ${ms.toFixed(1)} ms\n`);
    expect(plan.length).toBeGreaterThan(0);
    expect(plan.filter((line) => grown.test(line))).toEqual([]);
  }, 180_000);

  const kinds: [string, (db: Db, batch: Batch) => Promise<Pruned>][] = [
    ['attempts', pruneAttempts],
    ['deliveries', (db, batch) => pruneDeliveries(db, 'production', batch)],
    ['bodies of events', prunePayloads],
    ['e-mails', pruneEmails],
    ['jobs', pruneJobs],
  ];
  it.each(kinds)('prunes %s by an index, batch by batch', async (what, prune) => {
    let after: string | null = null;
    let slowest = 0;
    do {
      const batch: Batch = { olderThanMs: 95 * day, limit: 100, after };
      const { plan, ms } = await large.watch(async (db) => { after = (await prune(db, { ...batch, after })).after; });
      slowest = Math.max(slowest, ms);
      expect(plan.filter((line) => grown.test(line))).toEqual([]);
    } while (after !== null);
    if (measured) process.stdout.write(`${rows} rows: prunes ${what}: slowest batch ${slowest.toFixed(1)} ms\n`);
  }, 600_000);

  it('what was old is gone, what is young is there, and a body is kept while a delivery of it waits', async () => {
    const { db } = large;
    const old = firstIdOf(new Date(Date.now() - 95 * day - 3_600_000));
    const many = async (table: typeof webhookAttempts | typeof webhookDeliveries | typeof emails, condition = lt(table.id, old)) => (await db.select({ n: count() }).from(table as typeof emails).where(condition))[0]!.n;
    expect([await many(webhookAttempts), await many(webhookDeliveries), await many(emails)]).toEqual([0, 0, 0]);
    expect(await many(webhookAttempts, sql`true`)).toBeGreaterThanOrEqual(Math.floor(rows * 0.95) - 2);
    const bodies = await db.select({ n: count() }).from(events).where(and(lt(events.id, old), sql`${events.data} <> ${prunedBody}`));
    expect(bodies[0]!.n).toBe(0);

    const [first] = await db.select().from(webhookDeliveries).where(gt(webhookDeliveries.id, firstIdOf(new Date(Date.now() - 95 * day)))).orderBy(webhookDeliveries.id).limit(1);
    await db.update(webhookDeliveries).set({ status: 'pending', finishedAt: null, nextAttemptAt: new Date() }).where(eq(webhookDeliveries.id, first!.id));
    const batch: Batch = { olderThanMs: 94 * day, limit: 50, after: null };
    expect((await prunePayloads(db, batch)).count).toBeLessThanOrEqual(1);
    await pruneDeliveries(db, 'production', batch);
    expect((await db.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, first!.id)))[0]).toMatchObject({ status: 'exhausted', nextAttemptAt: null });
    expect(await db.select().from(attentionItems)).toMatchObject([{ type: 'webhook_deliveries_exhausted', objectId: first!.endpointId }]);
    expect((await prunePayloads(db, batch)).count).toBe(50);
  });

  it('a batch of pruning that is under way holds up no delivery', async () => {
    const beside = connect(large.url, { max: 2 });
    const undone = new Error('undone');
    const pruned: number[] = [];
    const held = large.db.transaction(async (tx) => {
      const [db, batch] = [tx as unknown as Db, { olderThanMs: 50 * day, limit: 200, after: null }];
      for (const [, prune] of kinds) pruned.push((await prune(db, batch)).count);
      const page = await dueDeliveries(beside.db, large.behind, { limit: 10, except: [] });
      const change = systemChange('production', large.account);
      await transact(beside.db, change, (own) => appendEvents(own, change, [{ type: 'customer.created', kind: 'cus', objectId: newId(), data: {}, previous: null }]));
      const streak = await beside.db.transaction((own) => recordAttempts(own, { endpointId: large.behind, epoch: 0 }, page.map(({ id }) => deliveredAttempt(id))));
      expect([page.length, streak?.consecutiveFailures]).toEqual([10, 0]);
      throw undone;
    });
    await expect(held).rejects.toBe(undone);
    await beside.close();
    expect(pruned.slice(0, 3).every((count) => count > 100)).toBe(true);
  });
});
