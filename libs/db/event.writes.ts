import { sql, type SQL } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { eventData } from '../domain/event/event-data.js';
import { hearsEvent, type EventObjectFilter } from '../domain/event/event-filter.js';
import type { Environment } from '../domain/environment.js';
import { publicId, type IdKind } from '../views/ids.js';
import { orFail, type Row, type Statement } from './batch.js';
import { afterCommit } from './change.js';
import type { Db, Tx } from './client.js';
import { defer } from './deferred.js';
import { newId } from './mint.js';
import { events, webhookDeliveries } from './schema/index.js';
import { clockTimestamp, insertStatement } from './statement.js';
import { requestWake } from './wake.js';

export interface EventDraft {
  type: string;
  kind: IdKind;
  objectId: string;
  customerId?: string | null;
  /** The object after the change, as its view shows it, unexpanded. `eventData` bounds it. */
  data: object;
  /** The changed top-level keys with their old values; null on create. */
  previous: object | null;
  /** Distinguishes events of the same type and object within one command. */
  step?: string;
  /** Endpoints (UUIDs) that get it whatever their filter says. */
  alsoTo?: readonly string[];
  /** Endpoint (UUID) that does not get it: nobody is told of himself that he cannot be reached. */
  notTo?: string;
}

interface Subscriber {
  id: string;
  enabled_events: string[];
  filter: EventObjectFilter | null;
}

/** What the next events of some objects stand on. */
export interface EventFooting {
  /** Last sequence by object; 0 where there is none. */
  sequences: ReadonlyMap<string, number>;
  /** The account's endpoints that hear events, as `subscribersOf` renders them: the same text means the same endpoints. */
  subscribers: string;
  /** Times of customers' test clocks, where they were asked for. */
  clockTimes?: ReadonlyMap<string, string>;
}

/** The text that `EventFooting.subscribers` holds; `account` is the account's parameter in the surrounding statement. */
export function subscribersOf<T>(account: T): [string, T, string] {
  return [
    `(select coalesce(json_agg(json_build_object('id', w.id, 'enabled_events', w.enabled_events, 'filter', w.filter) order by w.id), '[]')::text
       from webhook_endpoints w where w.account_id = `,
    account,
    ` and w.status <> 'disabled' and w.deleted_at is null)`,
  ];
}

/** Ends its batch unless the account's endpoints are those that were known when the events were rendered. */
export function sameSubscribers(accountId: string, subscribers: string): Statement {
  const [select, account, end] = subscribersOf('$1');
  return { ...orFail({ text: `select 1 where ${select}${account}${end} = $2`, values: [accountId, subscribers] }, []), guard: true };
}

/**
 * Writes one event per draft and one delivery per matching endpoint, inside the change's transaction. The caller holds the
 * row lock of each object, which keeps its sequence free of gaps; the unique index is the last guard.
 */
export async function appendEvents(tx: Tx, change: Change, drafts: EventDraft[]): Promise<void> {
  if (drafts.length === 0) return;
  const together = gathered.get(tx);
  if (together) together.push({ change, drafts });
  else await writeEvents(tx, change.accountId, [{ change, drafts }]);
}

interface Gathered {
  change: Change;
  drafts: readonly EventDraft[];
}

const gathered = new WeakMap<Tx, Gathered[]>();

/**
 * Runs `work` and writes the events that it appends at its end, in their order: a fact of many parts reads what its events stand on
 * once. The objects' rows are locked until the transaction ends, so that nothing comes between. `footing`: where it is known already;
 * objects that it does not name are new.
 */
export async function tellTogether<T>(tx: Tx, { accountId }: Pick<Change, 'accountId'>, work: () => Promise<T>, footing?: EventFooting): Promise<T> {
  if (gathered.has(tx)) return work();
  const together: Gathered[] = [];
  gathered.set(tx, together);
  try {
    const result = await work();
    if (together.length > 0) await writeEvents(tx, accountId, together, footing);
    return result;
  } finally {
    gathered.delete(tx);
  }
}

/** Runs `work` and answers what it would have told, for its caller to write. */
export async function gatherEvents(tx: Tx, work: () => Promise<unknown>): Promise<EventDraft[]> {
  const together: Gathered[] = [];
  gathered.set(tx, together);
  await work();
  gathered.delete(tx);
  return together.flatMap(({ drafts }) => drafts);
}

async function writeEvents(tx: Tx, accountId: string, told: readonly Gathered[], known?: EventFooting): Promise<void> {
  const objects = new Set(told.flatMap(({ drafts }) => drafts.map((draft) => draft.objectId)));
  const owners = new Set(told.flatMap(({ change, drafts }) => ownersOf(change, drafts)));
  let footing = known ?? (await eventFooting(tx, accountId, [...objects], [...owners]));
  const rendered: Pick<RenderedEvents, 'events' | 'deliveries'> = { events: [], deliveries: [] };
  for (const { change, drafts } of told) {
    const part = renderEvents(change, drafts, footing);
    footing = { ...footing, sequences: part.footing.sequences };
    rendered.events.push(...part.events);
    rendered.deliveries.push(...part.deliveries);
  }
  if (!defer(tx, () => insertStatement(events, rendered.events))) await tx.insert(events).values(rendered.events);
  if (rendered.deliveries.length > 0) {
    const rows = rendered.deliveries;
    const due = sql`clock_timestamp()` as unknown as Date;
    const isDeferred = defer(tx, () => insertStatement(webhookDeliveries, rows.map((row) => ({ ...row, nextAttemptAt: clockTimestamp }))));
    if (!isDeferred) await tx.insert(webhookDeliveries).values(rows.map((row) => ({ ...row, nextAttemptAt: due })));
    afterCommit(tx, requestWake);
  }
}

/** Customers whose test clock is to be told with events that name no time of their own. */
function ownersOf({ environment, clockTime }: Change, drafts: readonly EventDraft[]): string[] {
  if (environment !== 'staging' || clockTime !== null) return [];
  return [...new Set(drafts.flatMap((draft) => (draft.customerId && !isOnRealTime(draft) ? [draft.customerId] : [])))];
}

/** A payment that no invoice asks for. */
function isOnRealTime({ kind, data }: EventDraft): boolean {
  return ['pi', 'ch', 're', 'dp'].includes(kind) && 'invoice_id' in data && data.invoice_id === null;
}

/** `customerIds`: those whose test clocks are read too. */
export async function eventFooting(db: Db | Tx, accountId: string, objectIds: readonly string[], customerIds: readonly string[] = []): Promise<EventFooting> {
  const clocks = customerIds.length === 0 ? sql`null::json` : clocksOf(sql`any(${sql.param(customerIds)}::uuid[])`);
  const { rows } = await db.execute(footingSql({ account: sql`${accountId}`, objects: sql`${sql.param(objectIds)}::uuid[]`, clocks }));
  return footingOf(rows[0]!);
}

/** One row, which `footingOf` reads. */
export function footingSql({ account, objects, clocks }: { account: SQL; objects: SQL; clocks: SQL }): SQL {
  const [select, ofAccount, rest] = subscribersOf(account);
  return sql`
    select
      (select json_object_agg(o.id, coalesce((select max(e.sequence) from events e where e.object_id = o.id), 0)) from unnest(${objects}) as o(id)) as last,
      ${sql.raw(select)}${ofAccount}${sql.raw(rest)} as subscribers,
      ${clocks} as clocks`;
}

export function footingOf(row: Row): EventFooting {
  const { last, subscribers, clocks } = row as { last: Record<string, number> | null; subscribers: string; clocks: Record<string, string> | null };
  return { sequences: new Map(Object.entries(last ?? {})), subscribers, ...(clocks ? { clockTimes: new Map(Object.entries(clocks)) } : {}) };
}

/** Times of test clocks by customer; `those`: what their ids equal. */
export function clocksOf(those: SQL): SQL {
  return sql`(select json_object_agg(c.id, k.frozen_time) from customers c join test_clocks k on k.id = c.test_clock_id where c.id = ${those})`;
}

export interface RenderedEvents {
  events: (typeof events.$inferInsert)[];
  /** Due at once: `next_attempt_at` is the database's clock. */
  deliveries: Omit<typeof webhookDeliveries.$inferInsert, 'nextAttemptAt'>[];
  /** Where the objects stand afterwards. */
  footing: EventFooting;
}

export function renderEvents(change: Change, drafts: readonly EventDraft[], footing: EventFooting): RenderedEvents {
  const at = new Date();
  const sequences = new Map(footing.sequences);
  const subscribers = JSON.parse(footing.subscribers) as Subscriber[];
  const rendered: RenderedEvents = { events: [], deliveries: [], footing: { sequences, subscribers: footing.subscribers } };
  for (const draft of drafts) {
    const sequence = (sequences.get(draft.objectId) ?? 0) + 1;
    sequences.set(draft.objectId, sequence);
    const heard = subscribers.filter((endpoint) => isFor(endpoint, draft, change.environment));
    const own = draft.customerId ? footing.clockTimes?.get(draft.customerId) : undefined;
    const clockTime = change.clockTime ?? (own ? new Date(own).toISOString() : null);
    const row = renderEvent({ ...change, clockTime }, draft, { at, sequence, deliveries: heard.length });
    rendered.events.push(row);
    for (const endpoint of heard) {
      const { accountId } = change;
      const target = { eventId: row.id, endpointId: endpoint.id, objectId: draft.objectId, sequence };
      rendered.deliveries.push({ id: newId(), accountId, ...target, createdAt: at, updatedAt: at });
    }
  }
  return rendered;
}

function isFor({ id, enabled_events: enabledEvents, filter }: Subscriber, draft: EventDraft, environment: Environment): boolean {
  if (draft.alsoTo?.includes(id)) return true;
  if (draft.notTo === id) return false;
  const { type, data } = draft;
  return hearsEvent({ enabledEvents, filter }, { type, data, get objectId() { return publicId(draft.kind, environment, draft.objectId); } });
}

interface Rendering {
  at: Date;
  sequence: number;
  deliveries: number;
}

function renderEvent(change: Change, draft: EventDraft, { at, sequence, deliveries }: Rendering): typeof events.$inferInsert {
  const id = newId();
  const created = at.toISOString();
  const head = JSON.stringify({
    id: publicId('event', change.environment, id),
    object: 'event',
    type: draft.type,
    created_at: created,
    updated_at: created,
    account_id: publicId('acct', change.environment, change.accountId),
    request_id: change.requestId,
    request_idempotency_key: change.idempotencyKey,
    user: change.actor,
    sequence,
    clock_time: change.clockTime,
    pending_webhooks: deliveries,
  });
  return {
    id,
    accountId: change.accountId,
    type: draft.type,
    kind: draft.kind,
    objectId: draft.objectId,
    customerId: draft.customerId ?? null,
    sequence,
    commandId: change.commandId,
    step: draft.step ?? '',
    requestId: change.requestId,
    idempotencyKey: change.idempotencyKey,
    actor: change.actor,
    clockTime: change.clockTime ? new Date(change.clockTime) : null,
    deliveriesCreated: deliveries,
    head,
    data: eventData(draft.data),
    dataPrevious: draft.previous as Record<string, unknown> | null,
    createdAt: at,
  };
}

/** The top-level keys whose value differs, with their value in `before`; null where they were absent. */
export function previousValues(before: object, after: object): Record<string, unknown> {
  const old: Record<string, unknown> = {};
  const [then, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  for (const key of new Set([...Object.keys(then), ...Object.keys(now)])) {
    if (then[key] !== now[key] && JSON.stringify(then[key]) !== JSON.stringify(now[key])) old[key] = then[key] ?? null;
  }
  return old;
}
