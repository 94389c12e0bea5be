import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { Pool } from 'undici';
import { transact } from '../../libs/db/change.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { events, webhookAttempts, webhookDeliveries } from '../../libs/db/schema/index.js';
import type { Stage } from './stage.js';
import type { Subprocess } from './subprocess.js';

export interface ReceiverReport {
  count: number;
  firstAt: number;
  lastAt: number;
  delays: number[];
}

/** Commits `count` events of a type in one transaction; answers its command. */
export async function emit(stage: Stage, type: string, count: number): Promise<string> {
  const change = systemChange('staging', stage.account.id);
  const drafts = Array.from({ length: count }, () => ({
    type, kind: 'cus' as const, objectId: newId(), data: { id: randomUUID(), note: 'x'.repeat(600) }, previous: {},
  }));
  await transact(stage.database.db, change, (tx) => appendEvents(tx, change, drafts));
  return change.commandId;
}

/** Commits `count` events at once to endpoints that wait, so that a drain has a backlog; answers their bytes. */
export async function makeBacklog(stage: Stage, count: number): Promise<string[]> {
  const bodies: string[] = [];
  for (let made = 0; made < count; made += 100) {
    const commandId = await emit(stage, 'customer.updated', Math.min(100, count - made));
    const rows = await stage.database.db.select({ head: events.head, data: events.data }).from(events).where(eq(events.commandId, commandId));
    bodies.push(...rows.map(({ head, data }) => `${head.slice(0, -1)},"data":${data}}`));
  }
  return bodies;
}

/** Posts the bytes ten at a time; with `record`, one transaction per post inserts the attempt and updates the delivery. */
export async function bareLoop(stage: Stage, { receiver, bodies, record }: { receiver: Subprocess; bodies: string[]; record: boolean }): Promise<number> {
  const pool = new Pool(receiver.url, { connections: 10 });
  const deliveries = record ? await stage.database.db.select({ id: webhookDeliveries.id }).from(webhookDeliveries).limit(bodies.length) : [];
  let next = 0;
  const begin = performance.now();
  const worker = async () => {
    for (let index = next++; index < bodies.length; index = next++) {
      const startedAt = new Date();
      const answer = await pool.request({ method: 'POST', path: '/', body: bodies[index], headers: { 'content-type': 'application/json' } });
      await answer.body.dump();
      if (record) await recordOne(stage, { deliveryId: deliveries[index]!.id, startedAt, status: answer.statusCode });
    }
  };
  await Promise.all(Array.from({ length: 10 }, worker));
  const rate = bodies.length / ((performance.now() - begin) / 1000);
  await pool.close();
  return rate;
}

async function recordOne(stage: Stage, { deliveryId, startedAt, status }: { deliveryId: string; startedAt: Date; status: number }): Promise<void> {
  await stage.database.db.transaction(async (tx) => {
    await tx.insert(webhookAttempts).values({
      id: newId(), accountId: stage.account.id, deliveryId, endpointId: deliveryId, eventId: deliveryId, number: 99, url: 'http://127.0.0.1/',
      startedAt, durationMs: 1, responseStatus: status,
    });
    await tx.update(webhookDeliveries).set({ lastStatus: status, updatedAt: startedAt }).where(eq(webhookDeliveries.id, deliveryId));
  });
}

/** Waits until the receiver has seen `count` requests; answers what it saw. Throws when nothing moves for 30 s. */
export async function untilReceived(receiver: Subprocess, count: number): Promise<ReceiverReport> {
  let seen = -1;
  let movedAt = performance.now();
  for (;;) {
    const report = await receiver.ask<ReceiverReport>('report');
    if (report.count >= count) return report;
    if (report.count !== seen) {
      seen = report.count;
      movedAt = performance.now();
    } else if (performance.now() - movedAt > 30_000) throw new Error(`only ${seen} of ${count} deliveries arrived`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export interface Spent {
  /** Of the worker. */
  statements: number;
  transactions: number;
  rows: number;
  walBytes: number;
}

/** What the database has done since it was asked first: the worker's statements, transactions, rows written, bytes of the log. */
export async function startCounting(stage: Stage): Promise<() => Promise<Spent>> {
  const read = async () => {
    const { rows } = await stage.database.db.execute<Record<'xacts' | 'rows' | 'wal', string>>(sql`
      select d.xact_commit as xacts, d.tup_inserted + d.tup_updated + d.tup_deleted as rows, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal
        from pg_stat_database d where d.datname = current_database()`);
    return { statements: await stage.workerStatements(), transactions: Number(rows[0]!.xacts), rows: Number(rows[0]!.rows), walBytes: Number(rows[0]!.wal) };
  };
  await settleCounters(stage);
  const before = await read();
  return async () => {
    await settleCounters(stage);
    const now = await read();
    return {
      statements: now.statements - before.statements,
      transactions: now.transactions - before.transactions,
      rows: now.rows - before.rows,
      walBytes: now.walBytes - before.walBytes,
    };
  };
}

/** Each connection tells its counters within a second of its last statement. */
async function settleCounters(stage: Stage): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  await stage.database.db.execute(sql`select pg_stat_force_next_flush()`);
}
