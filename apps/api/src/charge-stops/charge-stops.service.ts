import { Injectable } from '@nestjs/common';
import { eq, isNotNull, isNull, sql, type AnyColumn, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { findStop, settleEarlierWrites, waitingFor } from '../../../../libs/db/charge-stop.queries.js';
import { liftStop, startStop } from '../../../../libs/db/charge-stop.writes.js';
import { transact } from '../../../../libs/db/change.js';
import { equals, inRange, numberedPage } from '../../../../libs/db/list.queries.js';
import { findPrice } from '../../../../libs/db/price.queries.js';
import { findProcessor } from '../../../../libs/db/processor.queries.js';
import { chargeStops, type ChargeStopRow } from '../../../../libs/db/schema/index.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { chargeStopView } from '../../../../libs/views/charge-stop.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedPage } from '../kernel/lists.js';
import type { ChargeStopsQuery, LiftChargeStopBody, ListChargeStopsBody, StartChargeStopBody } from './charge-stops.dto.js';

const lastChange = sql`coalesce(drained_at, lifted_at, started_at)` as unknown as AnyColumn;

@Injectable()
export class ChargeStopsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async start(caller: Caller, body: StartChargeStopBody) {
    const { db } = this.infrastructure;
    const objectId = await this.stoppedId(caller, body);
    const stop = { id: caller.objectId(), scope: body.scope, objectId, reason: body.reason };
    const started = await transact(db, caller.change(), (tx) => startStop(tx, caller.change(), stop));
    await settleEarlierWrites(db);
    return started;
  }

  async lift(caller: Caller, publicId: string, body: LiftChargeStopBody) {
    const id = pathId('stop', publicId, caller);
    return transact(this.infrastructure.db, caller.change(), (tx) =>
      liftStop(tx, caller.change(), { id, restartPerSecond: body.restart_per_second }));
  }

  async get(caller: Caller, publicId: string) {
    const stopId = pathId('stop', publicId, caller);
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findStop(db, caller.accountId, stopId);
      if (!row) throw notFound('charge stop');
      return (await this.views(db, caller, [row]))[0]!;
    });
  }

  async browse(caller: Caller, query: ChargeStopsQuery) {
    return composedPage(this.infrastructure.db, chargeStops, query, { where: this.conditions(caller, query), views: (db, rows) => this.views(db, caller, rows) });
  }

  async list(caller: Caller, body: ListChargeStopsBody) {
    return snapshot(this.infrastructure.db, async (db) => {
      const { rows, total } = await numberedPage(db, chargeStops, {
        where: [...this.conditions(caller, body), ...inRange(chargeStops.startedAt, body.created_at), ...inRange(lastChange, body.updated_at)],
        sort: body.sort_key === 'created_at' ? chargeStops.startedAt : lastChange,
        descending: body.sort_descending,
        pageNumber: body.page_number,
        pageSize: body.page_size,
      });
      return { data: await this.views(db, caller, rows), page_number: body.page_number, page_size: body.page_size, total_objects: total };
    });
  }

  private async stoppedId(caller: Caller, { scope, object_id: id }: StartChargeStopBody): Promise<string> {
    const { db } = this.infrastructure;
    if (scope === 'account') {
      if (id && bodyId('object_id', 'acct', id, caller) !== caller.accountId) throw unknownReference('object_id', 'acct');
      return caller.accountId;
    }
    if (!id) throw invalidField('object_id', `Name the ${scope}`, 'missing');
    const uuid = bodyId('object_id', scope, id, caller);
    const found = scope === 'processor' ? await findProcessor(db, caller.accountId, uuid) : await findPrice(db, caller.accountId, uuid);
    if (!found) throw unknownReference('object_id', scope);
    return uuid;
  }

  private conditions(caller: Caller, { scope, status }: Pick<ListChargeStopsBody, 'scope' | 'status'>): (SQL | undefined)[] {
    const states = {
      stands: [isNull(chargeStops.liftedAt)],
      restarting: [isNotNull(chargeStops.liftedAt), isNull(chargeStops.drainedAt)],
      lifted: [isNotNull(chargeStops.drainedAt)],
    };
    return [eq(chargeStops.accountId, caller.accountId), ...equals(chargeStops.scope, scope), ...(status ? states[status] : [])];
  }

  private async views(db: Db, caller: Caller, rows: ChargeStopRow[]) {
    const waiting = await waitingFor(db, caller.accountId, rows.map((row) => row.id));
    return rows.map((row) => chargeStopView(row, caller.environment, waiting.get(row.id) ?? 0));
  }
}
