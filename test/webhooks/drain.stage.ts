import { drainEndpoint, type DrainDeps } from '../../activities/webhook-endpoint.drain.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect } from '../../libs/db/client.js';
import { deliveryAttempts } from '../../libs/db/delivery.queries.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { attentionItems, events, webhookDeliveries, webhookEndpoints } from '../../libs/db/schema/index.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { createEndpoint, type NewEndpoint } from '../../libs/db/webhook-endpoint.writes.js';
import { Poster } from '../../libs/webhooks/poster.js';
import { mintSecret } from '../../libs/webhooks/secret.js';
import { and, asc, eq } from 'drizzle-orm';
import { openReceiver, type Receiver } from '../support/receiver.js';
import { shared } from '../support/stack.js';

const environment = 'production' as const;

interface DrainOptions {
  failing?: boolean;
  brief?: boolean;
  mayLinger?: boolean;
  deps?: Partial<DrainDeps>;
  cancelled?: AbortSignal;
}

/** Rows in the shared production database, which no worker serves: drains run here only when a spec runs them. */
export function openStage() {
  const database = connect(shared.databaseUrlProduction, { max: 5 });
  const { db } = database;
  const secrets = createSecretBox([{ id: 'k', key: Buffer.alloc(32, 'a secret key of this spec only!') }]);
  const poster = new Poster({ allowLoopback: true, allowedNetworks: [], deadlineMs: 5_000 });
  const stopping = new AbortController();
  const deps: DrainDeps = { db, environment, secrets, poster, schedule: [0, 0.05, 3600], disableAfterMs: 5 * 24 * 3600 * 1000, stopping: stopping.signal, graceMs: 200 };

  const drain = (endpointId: string, options: DrainOptions = {}) =>
    drainEndpoint({ ...deps, ...options.deps }, {
      endpointId,
      failing: options.failing ?? false,
      brief: options.brief,
      mayLinger: () => options.mayLinger ?? false,
      cancelled: options.cancelled ?? new AbortController().signal,
    });

  return {
    db, secrets, poster, deps,

    async endpoint(url: string, { accountId = newId(), ...fields }: Partial<NewEndpoint> & { accountId?: string } = {}) {
      const change = systemChange(environment, accountId);
      const secret = mintSecret();
      const input: NewEndpoint = { id: newId(), url, description: null, metadata: null, enabledEvents: ['*'], dataFormat: 'object', secret, ...fields };
      await transact(db, change, (tx) => createEndpoint(tx, change, input, secrets));
      return { id: input.id, accountId: change.accountId, secret };
    },

    /** Writes events of one object, each in a transaction of its own. */
    async emitInOrder(accountId: string, objectId: string, count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        const change = systemChange(environment, accountId);
        await transact(db, change, (tx) => appendEvents(tx, change, [{ type: 'customer.updated', kind: 'cus', objectId, data: { number: index }, previous: {} }]));
      }
    },

    /** Writes `count` events, each of an object of its own. */
    async emit(accountId: string, count = 1, type = 'customer.created'): Promise<void> {
      const change = systemChange(environment, accountId);
      const drafts = Array.from({ length: count }, (_, index) => ({ type, kind: 'cus' as const, objectId: newId(), data: { number: index }, previous: null }));
      await transact(db, change, (tx) => appendEvents(tx, change, drafts));
    },

    drain,

    /** As the dispatcher does: one drain after another while something is due. */
    async drainAll(endpointId: string, options?: DrainOptions) {
      for (;;) {
        const outcome = await drain(endpointId, options);
        if (outcome.dueInMs === null || outcome.dueInMs > 0) return outcome;
      }
    },

    deliveries: (endpointId: string) =>
      db.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, endpointId)).orderBy(asc(webhookDeliveries.createdAt), asc(webhookDeliveries.id)),
    attempts: (accountId: string, deliveryId: string) => deliveryAttempts(db, accountId, deliveryId),
    row: async (endpointId: string) => (await db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, endpointId)))[0]!,
    update: (endpointId: string, set: Partial<typeof webhookEndpoints.$inferInsert>) => db.update(webhookEndpoints).set(set).where(eq(webhookEndpoints.id, endpointId)),
    eventTypes: async (accountId: string) => (await db.select({ type: events.type }).from(events).where(eq(events.accountId, accountId)).orderBy(asc(events.id))).map(({ type }) => type),
    attention: async (accountId: string) => db.select().from(attentionItems).where(and(eq(attentionItems.accountId, accountId))),

    async close() {
      await poster.close();
      await database.close();
    },
  };
}

export type Stage = ReturnType<typeof openStage>;
export type Endpoint = Awaited<ReturnType<Stage['endpoint']>>;

/** What `useStage` has opened for the test that runs. */
export let stage: Stage;
export let receiver: Receiver;

/** One stage for the tests of a spec, and a receiver that answers 200 for each of them. */
export function useStage(): void {
  beforeAll(() => { stage = openStage(); });
  afterAll(() => stage.close());
  beforeEach(async () => { receiver = await openReceiver(); });
  afterEach(() => receiver.close());
}
