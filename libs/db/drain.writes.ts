import { sql, type SQL } from 'drizzle-orm';
import { afterCommit } from './change.js';
import type { Db, Tx } from './client.js';
import type { WebhookEndpointRow } from './schema/index.js';
import { requestWake } from './wake.js';

/** Longer than the pause between two renewals, shorter than a dead drain may stay unnoticed. */
const drainLease = sql`interval '30 seconds'`;

export interface EndpointToWake {
  id: string;
  accountId: string;
  /** Of its last drain. */
  epoch: number;
}

/**
 * Endpoints whose dispatcher must be woken: something is due (or the endpoint was deleted while its dispatcher is open), no
 * drain runs, and nobody has sent a wake in the last 5 s. Several callers never get the same one.
 */
export async function claimEndpointsToWake(db: Db, limit: number): Promise<EndpointToWake[]> {
  const { rows } = await db.execute<EndpointToWake & Record<string, unknown>>(sql`
    update webhook_endpoints set wake_sent_at = clock_timestamp(), dispatcher_open = true
     where id in (
       select e.id from webhook_endpoints e
        where e.status <> 'paused'
          and (e.drain_until is null or e.drain_until < clock_timestamp())
          and (e.held_until is null or e.held_until <= clock_timestamp() or e.deleted_at is not null)
          and (e.wake_sent_at is null or e.wake_sent_at < clock_timestamp() - interval '5 seconds')
          and ((e.deleted_at is not null and e.dispatcher_open)
               or exists (select 1 from webhook_deliveries d
                           where d.endpoint_id = e.id and d.status = 'pending' and d.next_attempt_at <= clock_timestamp()))
        order by e.wake_sent_at nulls first
        limit ${limit}
        for update skip locked)
    returning id, account_id as "accountId", drain_epoch as epoch`);
  return rows;
}

export interface DrainHold {
  endpointId: string;
  epoch: number;
}

export interface DrainedEndpoint
  extends Pick<WebhookEndpointRow, 'id' | 'accountId' | 'url' | 'status' | 'dataFormat' | 'consecutiveFailures' | 'deletedAt' | 'version' | 'ordered' | 'ratePerSecond' | 'maxInFlight' | 'headers'> {
  /** Of the drain that read it. */
  epoch: number;
  /** Milliseconds for which the receiver wants silence; null or less than 0: none. */
  heldForMs: number | null;
  /** The live ones, newest first, as they are stored. */
  secrets: { id: string; sealed: string }[];
}

type Drained = DrainedEndpoint & Record<string, unknown>;

const heldForMs = sql`(extract(epoch from held_until - clock_timestamp()) * 1000)::float8`;

const drained = sql`
    id, drain_epoch as epoch, account_id as "accountId", url, status, data_format as "dataFormat",
    consecutive_failures as "consecutiveFailures", deleted_at as "deletedAt", version, ordered,
    rate_per_second as "ratePerSecond", max_in_flight as "maxInFlight", headers, ${heldForMs} as "heldForMs",
    (select coalesce(json_agg(json_build_object('id', s.id, 'sealed', s.sealed) order by s.created_at desc, s.id desc), '[]')
       from webhook_secrets s
      where s.endpoint_id = webhook_endpoints.id and (s.expires_at is null or s.expires_at > clock_timestamp())) as secrets`;

/** Takes the endpoint's drain; whoever held it before can record nothing more. Undefined if there is no such endpoint. */
export async function beginDrain(db: Db, endpointId: string): Promise<DrainedEndpoint | undefined> {
  const { rows } = await db.execute<Drained>(sql`
    update webhook_endpoints set drain_epoch = drain_epoch + 1, drain_until = clock_timestamp() + ${drainLease}, dispatcher_open = true
     where id = ${endpointId} returning ${drained}`);
  return rows[0];
}

/** Keeps the drain and reads the endpoint again. Undefined: another drain has taken it. */
export async function renewDrain(db: Db, { endpointId, epoch }: DrainHold): Promise<DrainedEndpoint | undefined> {
  const { rows } = await db.execute<Drained>(sql`
    update webhook_endpoints set drain_until = clock_timestamp() + ${drainLease}
     where id = ${endpointId} and drain_epoch = ${epoch}
    returning ${drained}`);
  return rows[0];
}

export interface Left extends Pick<DrainedEndpoint, 'consecutiveFailures' | 'heldForMs'> {
  /** Milliseconds until the next delivery is due (0 or less: now); null when nothing waits, or the endpoint is paused. */
  dueInMs: number | null;
}

/**
 * Ends a drain whose endpoint lives on: the wakers look after it again, in 5 s where its dispatcher goes on by itself. Undefined, with
 * nothing written, where another drain has taken it or the endpoint was deleted or disabled.
 */
export async function leaveDrain(db: Db, { endpointId, epoch }: DrainHold, { goesOn = false }: { goesOn?: boolean } = {}): Promise<Left | undefined> {
  const { rows } = await db.execute<Left & Record<string, unknown>>(sql`
    update webhook_endpoints set drain_until = null, wake_sent_at = ${goesOn ? sql`clock_timestamp()` : sql`null`}
     where id = ${endpointId} and drain_epoch = ${epoch} and deleted_at is null and status <> 'disabled'
    returning consecutive_failures as "consecutiveFailures", ${heldForMs} as "heldForMs",
              case when status = 'enabled' then
                (select (extract(epoch from min(d.next_attempt_at) - clock_timestamp()) * 1000)::float8
                   from webhook_deliveries d where d.endpoint_id = webhook_endpoints.id and d.status = 'pending') end as "dueInMs"`);
  return rows[0];
}

export interface DrainEnd {
  /** The endpoint is deleted: its dispatcher ends. */
  closed: boolean;
}

/** From here on the wakers look after the endpoint again, unless its dispatcher ends. */
export async function endDrain(db: Db, { endpointId, epoch }: DrainHold, { closed }: DrainEnd): Promise<void> {
  await db.execute(sql`
    update webhook_endpoints set drain_until = null, wake_sent_at = null, dispatcher_open = ${!closed}
     where id = ${endpointId} and drain_epoch = ${epoch}`);
}

const putOffAtOnce = 1_000;
const mostPutOffs = 200;

/**
 * A failing endpoint's fresh deliveries wait for its next retry instead of spending an attempt each, a bounded batch per transaction
 * however many there are. What a person asked for does not wait for a retry that was planned before: the first delivery of a job and a
 * test are probes of their own, and the job's others wait for its own next retry. Returns how many were put off; 0 when no retry is
 * planned, so that the oldest fresh one becomes the probe.
 */
export async function putOffFreshDeliveries(db: Db, endpointId: string): Promise<number> {
  const { rows } = await db.execute<{ at: string | null; job: string | null; jobAt: string | null }>(sql`
    select (select d.next_attempt_at::text from webhook_deliveries d
             where d.endpoint_id = ${endpointId} and d.status = 'pending' and d.attempts > 0
             order by d.next_attempt_at limit 1) as at,
           j.id as job,
           (select min(d.next_attempt_at)::text from webhook_deliveries d where d.job_id = j.id and d.status = 'pending' and d.attempts > 0) as "jobAt"
      from (values (1)) as one left join webhook_jobs j on j.endpoint_id = ${endpointId} and j.status = 'running'`);
  const { at, job, jobAt } = rows[0]!;
  if (at === null) return 0;
  const isFresh = sql`(d.job_id is null or d.job_id is distinct from ${job}::uuid) and d.object_id <> d.endpoint_id`;
  const ofJob = jobAt === null ? 0 : await putOff(db, endpointId, jobAt, sql`d.job_id = ${job}::uuid`);
  return ofJob + (await putOff(db, endpointId, at, isFresh));
}

async function putOff(db: Db, endpointId: string, retry: string, which: SQL): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < mostPutOffs; batch += 1) {
    const { rowCount } = await db.execute(sql`
      update webhook_deliveries set next_attempt_at = ${retry}::timestamptz
       where id in (
         select d.id from webhook_deliveries d
          where d.endpoint_id = ${endpointId} and d.status = 'pending' and d.attempts = 0 and ${which}
            and d.next_attempt_at <= clock_timestamp() and ${retry}::timestamptz > clock_timestamp()
          order by d.next_attempt_at
          limit ${putOffAtOnce}
          for update skip locked)`);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < putOffAtOnce) break;
  }
  return total;
}

/** Nearer than this it comes by itself, or is in the hands of a person's own post. */
const releasedIfLater = sql`interval '60 seconds'`;

/**
 * The endpoint answers again, or somebody says so: what waited for its next retry without having been tried is due now, the oldest of it
 * first. A bounded batch; returns whether there may be more.
 */
export async function releasePutOff(db: Db | Tx, endpointId: string): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    update webhook_deliveries set next_attempt_at = statement_timestamp()
     where id in (
       select d.id from webhook_deliveries d
        where d.endpoint_id = ${endpointId} and d.status = 'pending' and d.attempts = 0 and d.next_attempt_at > clock_timestamp() + ${releasedIfLater}
        order by d.next_attempt_at, d.id
        limit ${putOffAtOnce}
        for update skip locked)`);
  return rowCount === putOffAtOnce;
}

/** Turns that are booked at most when a person's post is given one of them. */
const mostBooked = sql`interval '2 seconds'`;

/**
 * The next turn at an endpoint with a rate limit, for a post beside its drain: milliseconds until it, 0 without a limit, undefined when
 * more than 2 s are booked already.
 */
export async function takeTurn(db: Db, endpointId: string): Promise<number | undefined> {
  const free = sql`case when rate_free_at < clock_timestamp() + interval '10 seconds' then greatest(rate_free_at, clock_timestamp()) else clock_timestamp() end`;
  const share = sql`interval '1 second' / rate_per_second`;
  const { rows } = await db.execute<{ ms: number | null; limited: boolean }>(sql`
    with turn as (
      update webhook_endpoints set rate_free_at = ${free} + ${share}
       where id = ${endpointId} and rate_per_second is not null and ${free} <= clock_timestamp() + ${mostBooked}
      returning (extract(epoch from rate_free_at - ${share} - clock_timestamp()) * 1000)::float8 as ms)
    select (select ms from turn) as ms, e.rate_per_second is not null as limited from webhook_endpoints e where e.id = ${endpointId}`);
  const { ms, limited } = rows[0]!;
  return limited ? (ms === null ? undefined : Math.max(0, ms)) : 0;
}

/**
 * Reserves `count` turns at an endpoint with a rate limit, for whoever holds its drain: milliseconds until the first; each later one
 * follows after a share of a second. No other drain is given the same turns. Undefined: another drain has taken the endpoint.
 */
export async function reserveTurns(db: Db, { endpointId, epoch }: DrainHold, { count, ratePerSecond }: { count: number; ratePerSecond: number }): Promise<number | undefined> {
  const taken = sql`${count / ratePerSecond}::float8 * interval '1 second'`;
  const { rows } = await db.execute<{ ms: number }>(sql`
    update webhook_endpoints
       set rate_free_at = least(greatest(rate_free_at, clock_timestamp()), clock_timestamp() + interval '2 seconds') + ${taken}
     where id = ${endpointId} and drain_epoch = ${epoch}
    returning (extract(epoch from rate_free_at - ${taken} - clock_timestamp()) * 1000)::float8 as ms`);
  return rows[0]?.ms;
}

const earlier = sql`p.endpoint_id = d.endpoint_id and p.object_id = d.object_id and p.status = 'pending' and p.sequence < d.sequence`;

/** At an ordered endpoint: what waits for an earlier event of its object is due when that one is. Its turn comes after it even so. */
export async function putOffFollowers(db: Db, endpointId: string): Promise<void> {
  await db.execute(sql`
    with blocked as (
      select d.id, (select p.next_attempt_at from webhook_deliveries p where ${earlier} order by p.sequence limit 1) as at
        from webhook_deliveries d
       where d.endpoint_id = ${endpointId} and d.status = 'pending' and d.next_attempt_at <= clock_timestamp())
    update webhook_deliveries d set next_attempt_at = blocked.at
      from blocked where d.id = blocked.id and blocked.at > clock_timestamp()`);
}

/** What was put off behind a delivery that ended otherwise than by its next attempt is due now. */
export async function releaseFollowers(tx: Tx, deliveryId: string): Promise<void> {
  await tx.execute(sql`
    update webhook_deliveries d set next_attempt_at = clock_timestamp()
      from webhook_deliveries p
     where p.id = ${deliveryId} and d.endpoint_id = p.endpoint_id and d.object_id = p.object_id and d.status = 'pending' and d.attempts = 0
       and d.sequence > p.sequence and d.next_attempt_at > clock_timestamp()
       and exists (select 1 from webhook_endpoints e where e.id = p.endpoint_id and e.ordered)`);
  afterCommit(tx, requestWake);
}

/** What was never tried is due now: the endpoint has given up its order. */
export async function releaseWaiting(tx: Tx, endpointId: string): Promise<void> {
  await tx.execute(sql`
    update webhook_deliveries set next_attempt_at = clock_timestamp()
     where endpoint_id = ${endpointId} and status = 'pending' and attempts = 0 and next_attempt_at > clock_timestamp()`);
  afterCommit(tx, requestWake);
}
