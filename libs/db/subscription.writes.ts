import { and, eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { isOwed } from '../domain/invoice/invoice.machine.js';
import { planCreate } from '../domain/subscription/create-subscription.js';
import type { Facts, Plan } from '../domain/subscription/plan.js';
import { planCommand, type CommandOutcome, type SubscriptionCommand } from '../domain/subscription/subscription.command.js';
import { nextDue } from '../domain/subscription/subscription.schedule.js';
import type { SubscriptionState } from '../domain/subscription/subscription.state.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { orFail } from './batch.js';
import type { Tx } from './client.js';
import { defer, isCollecting } from './deferred.js';
import { updateStatement } from './statement.js';
import { findCommand, oncePerCommand } from './command.writes.js';
import { enterBalance, lockBalance } from './customer-balance.writes.js';
import { queueEmail } from './email.writes.js';
import { appendEvents, tellTogether } from './event.writes.js';
import { findInvoice } from './invoice.queries.js';
import { closeInvoice, insertInvoice, linkIntent, markPastDue, markReminded, type NewInvoice } from './invoice.writes.js';
import { eventsOf } from './subscription-event.js';
import { emailOf, raiseMissedPeriods, tellUpcoming } from './subscription-notices.writes.js';
import { addPendingLines, dropPendingLines } from './pending-line.writes.js';
import { markPricesUsed } from './price.writes.js';
import { ownTime } from './subscription-time.writes.js';
import { writeItemChanges } from './subscription-item.writes.js';
import { checkExpectedTotal, resolveItemPrices, resolveSubscription, type SubscriptionRequest } from './subscription-prices.queries.js';
import { readFacts, readPricedItems, type Clockwork } from './subscription.queries.js';
import { runFrom, runOf } from './subscription-run.queries.js';
import type { Standing } from './subscription-standing.queries.js';
import { factsOfNew, givenBack, itemRows, nameAfter, subscriptionRow } from './subscription.record.js';
import { subscriptionItems, subscriptions, type InvoiceRow, type SubscriptionRow } from './schema/index.js';

/** What a subscription asks of payments inside its transactions; the room of payments answers them. */
export interface InvoicePayments {
  /** Makes the invoice's one intent, or confirms it again; answers its UUID. */
  begin(tx: Tx, change: Change, wish: { invoice: InvoiceRow; subscription: SubscriptionRow; paymentMethodId: string; now: Date }): Promise<string>;
  /** Before the invoice is voided: nothing can collect it any more. Answers the UUID of an intent that must be moved on, or null. */
  release(tx: Tx, change: Change, wish: { invoice: InvoiceRow; now: Date }): Promise<string | null>;
  /** Asks for money back; answers the UUID of the intent that must be moved on. */
  refund(tx: Tx, change: Change, wish: { invoice: InvoiceRow; amountAtom: number; now: Date }): Promise<string>;
}

export interface WriteResult extends CommandOutcome {
  /** UUIDs of intents to be moved on after the commit. */
  advance: string[];
}

export interface Writing {
  clock: Clockwork;
  payments: InvoicePayments;
  /** The subscription lives on a test clock that advances: as far as it may go. */
  until?: Date;
}

/** The row, its items, its first invoice and their events; nothing when the request is refused. */
export async function createSubscription(tx: Tx, asked: Change, request: SubscriptionRequest, writing: Writing): Promise<WriteResult> {
  return oncePerCommand(tx, asked, { objectId: request.id, step: 'create' }, async () => {
    const resolved = await resolveSubscription(tx, asked.accountId, request);
    const { change, clock } = await ownTime(tx, asked, { testClockId: resolved.customer.testClockId, clock: writing.clock, commanded: true });
    const facts = await factsOfNew(tx, resolved, clock);
    const plan = planCreate(resolved.input, facts);
    checkExpectedTotal(request.totalAmountAtom, plan.invoice?.totalAtom ?? 0);
    const row = subscriptionRow(change, resolved, plan, facts.now);
    await tx.insert(subscriptions).values(row);
    await tx.insert(subscriptionItems).values(itemRows(row, resolved));
    await markPricesUsed(tx, resolved.items.map(({ price }) => price.id), facts.now);
    return writePlan(tx, change, { before: null, row, plan, facts, payments: writing.payments });
  });
}

export interface Commanded {
  subscriptionId: string;
  command: SubscriptionCommand;
}

/**
 * Applies a command once.
 * @throws DomainError 404, 409 for a move the table refuses, 422 for what the command names.
 */
export async function changeSubscription(tx: Tx, asked: Change, { subscriptionId, command }: Commanded, writing: Writing): Promise<WriteResult> {
  const known = await findCommand<WriteResult>(tx, asked.commandId, { objectId: subscriptionId });
  if (known !== undefined) return known;
  const row = await lockSubscription(tx, asked.accountId, subscriptionId);
  return oncePerCommand(tx, asked, { objectId: subscriptionId }, async () => {
    const { change, clock } = await ownTime(tx, asked, { testClockId: row.testClockId, clock: writing.clock, commanded: true });
    const prices = await resolveItemPrices(tx, row, 'items' in command ? (command.items ?? []) : []);
    const facts = await readFacts(tx, row, clock, prices);
    const plan = planCommand(row, command, facts);
    if (!plan) return unchanged(tx, change, row);
    return writePlan(tx, change, { before: row, row: { ...row, ...plan.next }, plan, facts, payments: writing.payments });
  });
}

export async function lockSubscription(tx: Tx, accountId: string, id: string): Promise<SubscriptionRow> {
  const [row] = await tx
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.id, id), eq(subscriptions.accountId, accountId)))
    .for('update');
  if (!row) throw notFound('subscription');
  return row;
}

interface PlanWrite {
  before: SubscriptionRow | null;
  row: SubscriptionRow;
  plan: Plan;
  facts: Facts;
  payments: InvoicePayments;
  /** What was read without a lock: whoever changed any of it meanwhile is found by a version. */
  known?: Pick<Standing, 'items' | 'intents'> & { fresh?: NewInvoice | null };
}

/** What a plan has become. */
export interface WrittenPlan {
  result: WriteResult;
  row: SubscriptionRow;
  invoice: NewInvoice | null;
}

/** @throws DomainError `version_conflict` when the row, or what the plan takes in, is another than was read. */
export async function writePlan(tx: Tx, change: Change, write: PlanWrite): Promise<WriteResult> {
  const { result } = await tellTogether(tx, change, () => applyPlan(tx, change, write));
  return result;
}

export async function applyPlan(tx: Tx, change: Change, { before, row, plan, facts, payments, known }: PlanWrite): Promise<WrittenPlan> {
  const { now } = facts;
  const changesItems = plan.items.length + (plan.invoice?.turnover.length ?? 0) > 0;
  const itemsBefore = before && changesItems ? (known?.items ?? (await readPricedItems(tx, [row.id]))) : null;
  const written = before ? await updateRow(tx, before, { next: { ...plan.next, name: nameAfter(before, plan, facts) }, now, isOurs: known?.fresh != null }) : row;
  const advance: string[] = [];
  await writeItemChanges(tx, change, written, { changes: plan.items, at: now, step: 'items' });
  await dropPendingLines(tx, change, { ids: plan.dropped, at: now });
  const invoice = plan.invoice ? await finalise(tx, change, { row: written, plan, facts }) : null;
  await writeItemChanges(tx, change, written, { changes: plan.invoice?.turnover ?? [], at: now, step: 'period' });
  const pending = await addPendingLines(tx, change, written, { lines: plan.pending, at: now });
  for (const closed of plan.closed) {
    const released = await close(tx, change, { closed, payments, now });
    if (released) advance.push(released);
  }
  const begun = plan.charge ? await beginCharge(tx, change, { row: written, charge: plan.charge, payments, now, fresh: known?.fresh }) : null;
  if (plan.creditAtom > 0) await credit(tx, change, { row: written, amountAtom: plan.creditAtom, now });
  for (const { invoiceId, amountAtom } of plan.refunds) {
    const refunded = (await findInvoice(tx, change.accountId, invoiceId))!;
    advance.push(await payments.refund(tx, change, { invoice: refunded, amountAtom, now }));
  }
  for (const invoiceId of plan.reminded) await markReminded(tx, change, { invoiceId, at: now });
  if (plan.upcoming) await tellUpcoming(tx, change, { row: written, draft: plan.upcoming });
  for (const { kind, invoiceId } of plan.emails) await queueEmail(tx, change, emailOf(written, change, { kind, invoiceId }));
  if (plan.attention) await raiseMissedPeriods(tx, written, plan.attention, now);
  const items = known && !changesItems ? known.items : await readPricedItems(tx, [row.id]);
  await appendEvents(tx, change, eventsOf(change, { before, itemsBefore, items, row: written, events: plan.events }));
  const charging = begun ?? known?.intents.get(written.chargingInvoiceId ?? '');
  const run = known && charging !== undefined && written.testClockId === null ? runFrom(written, change, charging) : await runOf(tx, written, change);
  const settled = !isMoneyAwaited(written, now);
  const pendingIds = pending.map(({ id }) => id);
  const result = { run, settled, ...givenBack(plan), invoiceId: invoice?.row.id ?? null, pendingIds, advance };
  return { result, row: written, invoice };
}

interface Charging {
  row: SubscriptionRow;
  charge: NonNullable<Plan['charge']>;
  payments: InvoicePayments;
  now: Date;
  /** Drawn in this transaction. */
  fresh?: NewInvoice | null;
}

/** Answers the UUID of the intent. */
async function beginCharge(tx: Tx, change: Change, { row, charge, payments, now, ...known }: Charging): Promise<string> {
  const fresh = known.fresh?.row.id === charge.invoiceId ? known.fresh : null;
  const invoice = fresh?.row ?? (await findInvoice(tx, change.accountId, charge.invoiceId))!;
  if (!isOwed(invoice.status)) throw new DomainError('version_conflict');
  const paymentIntentId = await payments.begin(tx, change, { invoice, subscription: row, paymentMethodId: charge.paymentMethodId, now });
  await linkIntent(tx, change, { invoiceId: invoice.id, paymentIntentId, at: now, fresh });
  return paymentIntentId;
}

/** A payment is to begin now, or has begun. */
function isMoneyAwaited(row: SubscriptionState, now: Date): boolean {
  return row.chargingInvoiceId !== null || (row.chargeAt !== null && row.chargeAt <= now && row.collectionMethod === 'charge_automatically');
}

interface RowUpdate {
  next: SubscriptionState & { name: string };
  now: Date;
  /** This transaction has written the row before, so that nobody else can. */
  isOurs: boolean;
}

async function updateRow(tx: Tx, before: SubscriptionRow, { next, now, isOurs }: RowUpdate): Promise<SubscriptionRow> {
  const set = { ...next, nextActionAt: nextDue(next)?.at ?? null, version: before.version + 1, updatedAt: now };
  const where = { text: 'id = ? and version = ?', values: [before.id, before.version], returning: 'id' };
  if ((isOurs || isCollecting(tx)) && defer(tx, () => orFail(updateStatement(subscriptions, set, where), []))) return { ...before, ...set };
  const [written] = await tx
    .update(subscriptions)
    .set(set)
    .where(and(eq(subscriptions.id, before.id), eq(subscriptions.version, before.version)))
    .returning();
  if (!written) throw new DomainError('version_conflict');
  return written;
}

async function finalise(tx: Tx, change: Change, { row, plan, facts }: Pick<PlanWrite, 'row' | 'plan' | 'facts'>): Promise<NewInvoice> {
  const draft = plan.invoice!;
  const balanceAtom = draft.appliedBalanceAtom + draft.creditedAtom > 0 ? await lockBalance(tx, row.accountId, row) : null;
  if (draft.appliedBalanceAtom > 0 && balanceAtom !== facts.balanceAtom) throw new DomainError('version_conflict');
  const drawn = await insertInvoice(tx, change, row, draft);
  const { row: invoice } = drawn;
  if (draft.appliedBalanceAtom > 0) {
    const entry = { customerId: row.customerId, currency: row.currency, amountAtom: -draft.appliedBalanceAtom, invoiceId: invoice.id };
    await enterBalance(tx, change, { ...entry, type: 'applied_to_invoice', description: `Applied to invoice ${invoice.number}` }, facts.now);
  }
  if (draft.creditedAtom > 0) {
    const entry = { customerId: row.customerId, currency: row.currency, amountAtom: draft.creditedAtom, invoiceId: invoice.id };
    await enterBalance(tx, change, { ...entry, type: 'adjustment', description: `Credit of invoice ${invoice.number}` }, facts.now);
  }
  if (draft.carried) await addPendingLines(tx, change, row, { lines: [{ ...draft.carried, carriedFromInvoiceId: invoice.id }], at: facts.now });
  return drawn;
}

interface Closing {
  closed: Plan['closed'][number];
  payments: InvoicePayments;
  now: Date;
}

/** Answers the UUID of an intent that must be moved on, or null. */
async function close(tx: Tx, change: Change, { closed: { invoiceId, as, message }, payments, now: at }: Closing): Promise<string | null> {
  if (as === 'past_due') {
    await markPastDue(tx, change, { invoiceId, message: message ?? null, at });
    return null;
  }
  const released = as === 'void' ? await payments.release(tx, change, { invoice: (await findInvoice(tx, change.accountId, invoiceId))!, now: at }) : null;
  await closeInvoice(tx, change, { invoiceId, as, at });
  return released;
}

async function credit(tx: Tx, change: Change, { row, amountAtom, now }: { row: SubscriptionRow; amountAtom: number; now: Date }): Promise<void> {
  const entry = { customerId: row.customerId, currency: row.currency, amountAtom, type: 'adjustment' as const, invoiceId: null };
  await enterBalance(tx, change, { ...entry, description: 'Unused time of a cancelled subscription' }, now);
}

export async function unchanged(tx: Tx, change: Change, row: SubscriptionRow): Promise<WriteResult> {
  return settledOutcome(await runOf(tx, row, change));
}

/** Of a command or step that found nothing to do. */
export function settledOutcome(run: WriteResult['run']): WriteResult {
  return { run, settled: true, creditAtom: 0, refundAtom: 0, invoiceId: null, advance: [] };
}
