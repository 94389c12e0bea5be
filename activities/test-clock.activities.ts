import type { ClockStanding } from '../libs/contracts/subscription.contract.js';
import type { AdvanceState, TestClockActivities } from '../libs/contracts/test-clock.contract.js';
import { transact } from '../libs/db/change.js';
import type { Db } from '../libs/db/client.js';
import { deleteCustomer } from '../libs/db/customer.writes.js';
import { derivedId } from '../libs/db/mint.js';
import { overdueInvoices, passDueDate } from '../libs/db/overdue-invoice.writes.js';
import type { InvoiceRow, SubscriptionRow, TestClockRow } from '../libs/db/schema/index.js';
import { clockCustomers, livingMembers, nextMembers, restlessMembers, testClockById } from '../libs/db/test-clock.queries.js';
import { failAdvance, finishAdvance, noteWaiting, tickTestClock } from '../libs/db/test-clock.writes.js';
import type { Change } from '../libs/domain/change/change.js';
import type { Environment } from '../libs/domain/environment.js';
import { DomainError } from '../libs/errors/domain-error.js';
import { beating } from './heartbeat.js';

export interface TestClockDeps {
  db: Db;
  environment: Environment;
  /** Asks the workflow of a subscription, the only writer of its row. */
  members: {
    /** Null: it is still at it. @throws DomainError what refuses the fact */
    advance(member: SubscriptionRow, until: Date): Promise<ClockStanding | null>;
    /** Cancels without money: open invoices are void, nothing is credited. */
    cancel(member: SubscriptionRow, change: Change): Promise<void>;
  };
}

const heartbeatMs = 1_000;
/** A stretch ends after this, so that other clocks get their turn. */
const stretchMs = 10_000;
const batch = 50;
/** The same member due again and again without a change: it never will. */
const mostRepeats = 20;

/** Safe to run at any time and twice: everything is found in rows. */
export function createTestClockActivities(deps: TestClockDeps): TestClockActivities {
  return {
    advanceTestClock: ({ clockId }) =>
      beating(heartbeatMs, async () => {
        const clock = await testClockById(deps.db, clockId);
        if (clock?.deletedAt) return clear(deps, clock);
        return clock?.status === 'advancing' ? advance(deps, clock) : 'done';
      }),
  };
}

async function advance(deps: TestClockDeps, clock: TestClockRow): Promise<AdvanceState> {
  try {
    return (await lookAround(deps, clock)) ?? (await moveOn(deps, clock, clock.targetTime!));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const change = changeOf(deps, clock, 'failed');
    await transact(deps.db, change, (tx) => failAdvance(tx, change, { id: clock.id, reason: error.message }));
    return 'done';
  }
}

/** What has been waiting since before: a payment without outcome, a new payment method. Time does not move. */
async function lookAround({ db, members }: TestClockDeps, clock: TestClockRow): Promise<AdvanceState | null> {
  for (const member of await restlessMembers(db, clock.id)) {
    const standing = await members.advance(member, clock.frozenTime);
    if (standing === 'waiting' || standing === null) return wait(db, clock, member);
  }
  return null;
}

/** By time, then by id: each member as far as the next one's turn. */
async function moveOn(deps: TestClockDeps, clock: TestClockRow, target: Date): Promise<AdvanceState> {
  const end = performance.now() + stretchMs;
  for (let repeats = 0, last = ''; performance.now() < end; ) {
    const [member, other] = await nextMembers(deps.db, clock.id, target, 2);
    const [overdue] = await overdueInvoices(deps.db, { at: target, testClockId: clock.id, limit: 1 });
    if (overdue && !(member && member.nextActionAt! <= overdue.dueDate)) {
      await passOnClock(deps, clock, overdue);
      continue;
    }
    if (!member) {
      const held = (await restlessMembers(deps.db, clock.id)).find(({ chargingInvoiceId }) => chargingInvoiceId !== null);
      if (held) return wait(deps.db, clock, held);
      const change = changeOf(deps, clock, 'ready');
      await transact(deps.db, change, (tx) => finishAdvance(tx, change, clock));
      return 'done';
    }
    const turn = `${member.id}:${member.version}`;
    repeats = turn === last ? repeats + 1 : 0;
    last = turn;
    if (repeats > mostRepeats) throw new DomainError('internal', `Something is due that does not happen: ${member.name}, ${member.nextActionAt?.toISOString()}`);
    const standing = await deps.members.advance(member, earliest(other ? turnOf(member, other) : target, overdue?.dueDate ?? target));
    if (standing === 'waiting' || standing === null) return wait(deps.db, clock, member);
  }
  return 'more';
}

/** The last moment that is the member's before the other's turn. */
function turnOf(member: SubscriptionRow, other: SubscriptionRow): Date {
  return new Date(other.nextActionAt!.getTime() - (member.id < other.id ? 0 : 1));
}

function earliest(a: Date, b: Date): Date {
  return a < b ? a : b;
}

/** The due date of an invoice that a person made has passed. */
async function passOnClock({ db, environment }: TestClockDeps, clock: TestClockRow, invoice: InvoiceRow): Promise<void> {
  const at = invoice.dueDate;
  await passDueDate(db, environment, { invoice, at, clockTime: at.toISOString() });
  await db.transaction((tx) => tickTestClock(tx, clock.id, at));
}

async function wait(db: Db, clock: TestClockRow, member: SubscriptionRow): Promise<AdvanceState> {
  await db.transaction((tx) => noteWaiting(tx, clock.id, member.id));
  return 'waiting';
}

/** The clock was deleted: its subscriptions end without money, its customers are deleted. */
async function clear(deps: TestClockDeps, clock: TestClockRow): Promise<AdvanceState> {
  const members = await livingMembers(deps.db, clock.id, batch);
  for (const member of members) await deps.members.cancel(member, changeOf(deps, clock, member.id));
  if (members.length === batch) return 'more';
  const customers = await clockCustomers(deps.db, clock.id, batch);
  for (const customer of customers) {
    const change = changeOf(deps, clock, customer.id);
    await transact(deps.db, change, (tx) => deleteCustomer(tx, change, customer.id));
  }
  return customers.length === batch ? 'more' : 'done';
}

/** The command follows from what is done, so that a second run is the same one. */
function changeOf({ environment }: TestClockDeps, clock: TestClockRow, what: string): Change {
  const commandId = derivedId('test-clock', clock.id, what, clock.version);
  return { accountId: clock.accountId, environment, actor: 'system', requestId: null, idempotencyKey: null, commandId, clockTime: clock.frozenTime.toISOString() };
}

/** Anything else passes by itself: the stretch is tried again. */
function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code !== 'service_unavailable' && error.code !== 'version_conflict';
}
