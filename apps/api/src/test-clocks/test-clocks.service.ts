import { Injectable } from '@nestjs/common';
import { eq, isNull, type SQL } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { testClocks, type TestClockRow } from '../../../../libs/db/schema/index.js';
import { findTestClock } from '../../../../libs/db/test-clock.queries.js';
import { advanceTestClock, createTestClock, deleteTestClock } from '../../../../libs/db/test-clock.writes.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { wakeTestClockWorkflow } from '../../../../libs/temporal/test-clock.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import { testClockView } from '../../../../libs/views/test-clock.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import type { AdvanceTestClockBody, CreateTestClockBody, ListTestClocksBody, TestClocksQuery } from './test-clocks.dto.js';

/** What stands in the row is promised; its workflow moves the clock, and the reconciler wakes it where Temporal was away. */
@Injectable()
export class TestClocksService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateTestClockBody) {
    this.assertStaging();
    const clock = { id: caller.objectId(), name: body.name ?? null, frozenTime: body.frozen_time };
    return this.show(await transact(this.infrastructure.db, caller.change(), (tx) => createTestClock(tx, caller.change(), clock)));
  }

  browse(caller: Caller, query: TestClocksQuery) {
    this.assertStaging();
    return cursorPage(this.infrastructure.db, testClocks, query, { where: this.conditions(caller, query), view: (row) => this.show(row) });
  }

  list(caller: Caller, body: ListTestClocksBody) {
    this.assertStaging();
    return listPage(this.infrastructure.db, testClocks, body, { where: this.conditions(caller, body), view: (row) => this.show(row) });
  }

  async get(caller: Caller, id: string) {
    this.assertStaging();
    const row = await findTestClock(this.infrastructure.db, caller.accountId, pathId('clock', id, caller));
    if (!row) throw notFound('test clock');
    return this.show(row);
  }

  async advance(caller: Caller, id: string, body: AdvanceTestClockBody) {
    this.assertStaging();
    const advance = { id: pathId('clock', id, caller), to: body.frozen_time };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => advanceTestClock(tx, caller.change(), advance));
    await this.wake(caller, row.id);
    return this.show(row);
  }

  async delete(caller: Caller, id: string) {
    this.assertStaging();
    const clockId = pathId('clock', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) => deleteTestClock(tx, caller.change(), clockId));
    await this.wake(caller, clockId);
    return { message: 'Test clock deleted.', test_clock_id: id };
  }

  private assertStaging(): void {
    if (this.infrastructure.environment !== 'staging') throw new DomainError('staging_only');
  }

  private show(row: TestClockRow) {
    return testClockView(row, this.infrastructure.environment);
  }

  private conditions(caller: Caller, { status }: Pick<ListTestClocksBody, 'status'>): SQL[] {
    return [eq(testClocks.accountId, caller.accountId), isNull(testClocks.deletedAt), ...equals(testClocks.status, status)];
  }

  private async wake(caller: Caller, clockId: string): Promise<void> {
    const { environment, temporal, log } = this.infrastructure;
    const clock = publicId('clock', environment, clockId);
    const input = { clockId, clock, account: publicId('acct', environment, caller.accountId) };
    await wakeTestClockWorkflow(temporal.client, input).catch((err: unknown) => log.warn({ err, test_clock_id: clock }, 'test clock is woken later'));
  }
}
