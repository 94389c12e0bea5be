import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import fc from 'fast-check';
import { connect, type Database, type Db } from '../../libs/db/client.js';
import * as schema from '../../libs/db/schema/index.js';
import { newId } from '../../libs/db/mint.js';
import {
  accounts, chargeOperations, charges, customerBalanceTransactions, customers, invoiceItems, invoices, paymentIntents, paymentMethods, paymentProcessors, prices,
  products, subscriptionItems, subscriptions,
} from '../../libs/db/schema/index.js';
import { readStanding } from '../../libs/db/subscription-standing.queries.js';
import { findSubscription, readFacts, readPricedItems } from '../../libs/db/subscription.queries.js';
import { shared } from '../support/stack.js';

let database: Database;

beforeAll(() => {
  database = connect(shared.databaseUrlStaging, { max: 4, onError: () => undefined });
});
afterAll(() => database.close());

const start = Date.parse('2031-01-01T00:00:00.000Z');
const day = 86_400_000;
const at = (days: number) => new Date(start + days * day);
const stamps = { createdAt: at(0), updatedAt: at(0) };
const clock = { now: at(100), jitterSeconds: 7 };

const invoiceStatus = fc.constantFrom('draft' as const, 'open' as const, 'past_due' as const, 'paid' as const, 'void' as const, 'uncollectible' as const);
const intent = fc.record({
  status: fc.constantFrom('requires_confirmation' as const, 'requires_action' as const, 'processing' as const, 'requires_payment_method' as const, 'succeeded' as const, 'canceled' as const),
  declineCode: fc.constantFrom(null, 'do_not_honor', 'no_processor_available'),
  barred: fc.boolean(),
  charge: fc.option(fc.record({
    outcomeClass: fc.constantFrom(null, 'soft_decline' as const, 'hard_decline' as const, 'authentication_required' as const),
    retryAdvice: fc.constantFrom(null, 'never'),
    operation: fc.constantFrom(null, 'pending' as const, 'succeeded' as const),
  })),
});
const state = fc.record({
  row: fc.record({
    status: fc.constantFrom('trialing' as const, 'active' as const, 'paused' as const, 'cancelled' as const),
    billing: fc.constantFrom('scheduled' as const, 'incomplete' as const, 'current' as const, 'past_due' as const, 'unpaid' as const),
    ownMethod: fc.constantFrom(null, 'own', 'detached', 'stranger'),
    dunning: fc.boolean(),
  }),
  customer: fc.record({ method: fc.constantFrom(null, 'own', 'detached', 'stranger'), credits: fc.array(fc.record({ atom: fc.integer({ min: -900, max: 900 }), currency: fc.constantFrom('eur', 'usd') }), { maxLength: 3 }) }),
  items: fc.array(fc.record({ removed: fc.boolean(), later: fc.boolean(), ends: fc.boolean(), packages: fc.boolean(), named: fc.boolean() }), { maxLength: 4 }),
  invoices: fc.array(fc.record({
    status: invoiceStatus, day: fc.integer({ min: 0, max: 90 }), finalised: fc.boolean(), period: fc.boolean(), outOfBand: fc.boolean(),
    reason: fc.constantFrom('subscription_create', 'subscription_cycle', 'subscription_update', 'manual'), intent: fc.option(intent),
  }), { maxLength: 6 }),
  charging: fc.option(fc.nat(5)),
  lines: fc.array(fc.record({
    amountAtom: fc.integer({ min: -500, max: 500 }), invoice: fc.option(fc.nat(5), { freq: 1 }), ofCustomer: fc.boolean(), currency: fc.constantFrom('eur', 'eur', 'usd'),
    deleted: fc.boolean(), debit: fc.option(fc.nat(5)),
  }), { maxLength: 6 }),
  rules: fc.record({ policy: fc.boolean(), settings: fc.boolean() }),
  connections: fc.array(fc.record({ kind: fc.constantFrom('simulator' as const, 'stripe' as const), minimum: fc.option(fc.nat(200)), enabled: fc.boolean(), deleted: fc.boolean() }), { maxLength: 3 }),
});
/** In a transaction that is rolled back, so that nobody else ever sees these rows; a batch is sent on its connection. */
async function untold(work: (db: Db) => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  const onIt = { connect: () => Promise.resolve({ query: client.query.bind(client), release: () => undefined }) };
  try {
    await client.query('begin');
    await work(Object.assign(drizzle(client, { schema, casing: 'snake_case' }), { $client: onIt }) as unknown as Db);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

type Wanted = typeof state extends fc.Arbitrary<infer T> ? T : never;
type Insert = Parameters<ReturnType<Db['insert']>['values']>[0];

/** All rows of one account; answers its subscription. */
async function stored(db: Db, wanted: Wanted): Promise<{ accountId: string; subscriptionId: string }> {
  const [accountId, customerId, stranger, subscriptionId, productId] = [newId(), newId(), newId(), newId(), newId()];
  const put = async (table: Parameters<typeof db.insert>[0], rows: object[]) => (rows.length === 0 ? undefined : db.insert(table).values(rows.map((row) => ({ ...stamps, ...row })) as unknown as Insert));
  const methods: Record<string, string | null> = { own: newId(), detached: newId(), stranger: newId() };
  const methodOf = (name: string | null) => (name === null ? null : methods[name]!);
  const policy = { retryHours: [12], endsAfterHours: 24, finalAction: 'pause', reminderHours: [] };
  await put(accounts, [{ id: accountId, name: 'standing', execution: 'inline', dunningPolicy: wanted.rules.policy ? policy : null, ...(wanted.rules.settings ? { billingSettings: { upcomingDays: 9 } } : {}) }]);
  await put(customers, [customerId, stranger].map((id) => ({ id, accountId, email: 'a@example.com', address: {}, defaultPaymentMethodId: id === customerId ? methodOf(wanted.customer.method) : null })));
  await put(paymentMethods, Object.entries(methods).map(([name, id]) => ({ id, accountId, customerId: name === 'stranger' ? stranger : customerId, status: name === 'detached' ? 'detached' : 'attached', displayName: name, shownAt: at(0) })));
  const credits = wanted.customer.credits.map(({ atom, currency }) => ({ id: newId(), accountId, customerId, currency, amountAtom: atom, endingBalanceAmountAtom: 0, type: 'adjustment', commandId: newId() }));
  await put(customerBalanceTransactions, credits);
  await put(products, [{ id: productId, accountId, name: 'Plan', description: 'x' }]);
  const priced = wanted.items.map((item) => ({ ...item, id: newId(), priceId: newId() }));
  await put(prices, priced.map(({ priceId, packages, named }) => ({
    id: priceId, accountId, productId, priceType: 'recurring', pricingModel: packages ? 'package' : 'standard', transformQuantityDivideBy: packages ? 5 : 1, currency: 'eur',
    unitAmountAtom: 1_200, billingInterval: 'month', billingIntervalCount: 1, isActive: true, name: named ? 'Name of the price' : null,
  })));
  const drawn = wanted.invoices.map((invoice) => ({ ...invoice, id: newId(), intentId: invoice.intent ? newId() : null, chargeId: invoice.intent?.charge ? newId() : null }));
  const charging = wanted.charging === null ? null : (drawn[wanted.charging % Math.max(1, drawn.length)]?.id ?? null);
  const { row } = wanted;
  await put(subscriptions, [{
    id: subscriptionId, accountId, customerId, name: 'Plan', status: row.status, billingStatus: row.status === 'cancelled' ? null : row.billing, currency: 'eur', billingInterval: 'month',
    billingIntervalCount: 1, anchorAt: at(0), currentPeriodStart: at(0), currentPeriodEnd: at(31), initialStart: at(0), collectionMethod: 'charge_automatically',
    defaultPaymentMethodId: methodOf(row.ownMethod), chargingInvoiceId: charging, dunning: row.dunning ? { startedAt: at(1).toISOString(), failures: 1, blocked: null } : null,
  }]);
  await put(subscriptionItems, priced.map(({ id, priceId, later, ends, removed }) => ({
    id, accountId, subscriptionId, priceId, productId, quantity: 3, addAtPeriodEnd: later, dropAtEnd: ends, removedAt: removed ? at(2) : null,
  })));
  await put(invoices, drawn.map(({ id, status, day: from, finalised, period, outOfBand, reason, intentId }, n) => ({
    id, accountId, customerId, subscriptionId, status, billingReason: reason, periodKey: period ? `cycle:${n}` : null, collectionMethod: 'charge_automatically', currency: 'eur',
    totalAtom: 1_200, dueAtom: 1_200, paidAtom: status === 'paid' ? 1_200 : 0, periodStart: at(from), periodEnd: at(from + 30), dueDate: at(from), finalizedAt: finalised ? at(from) : null,
    paidOutOfBand: outOfBand, paymentIntentId: intentId,
  })));
  for (const { id, intentId, chargeId, intent: made } of drawn) {
    if (!made || !intentId) continue;
    const decision = made.barred ? { order: [], skipped: [{ processor_id: newId(), reason: 'never_again' }] } : null;
    await put(paymentIntents, [{
      id: intentId, accountId, customerId, amountAtom: 1_200, currency: 'eur', status: made.status, initiator: 'merchant', reference: intentId, driver: 'workflow', invoiceId: id,
      subscriptionId, declineCode: made.declineCode, decision, lastChargeId: chargeId, settled: true,
    }]);
    if (!made.charge || !chargeId) continue;
    await put(charges, [{
      id: chargeId, accountId, paymentIntentId: intentId, attemptNumber: 1, confirmation: 1, processorId: newId(), paymentMethodId: newId(), amountAtom: 1_200, currency: 'eur',
      status: 'failed', outcomeClass: made.charge.outcomeClass, retryAdvice: made.charge.retryAdvice, reference: chargeId, idempotencyKey: chargeId, leaseToken: 1, callBy: at(1), decision: {},
    }]);
    if (made.charge.operation) {
      await put(chargeOperations, [{
        id: newId(), accountId, paymentIntentId: intentId, chargeId, type: 'void', purpose: 'cancel', amountAtom: 0, status: made.charge.operation, reference: newId(), commandId: newId(),
      }]);
    }
  }
  const ids = wanted.lines.map(() => newId());
  await put(invoiceItems, wanted.lines.map(({ amountAtom, invoice, ofCustomer, currency, deleted, debit }, n) => ({
    id: ids[n], accountId, customerId, invoiceId: invoice === null ? null : (drawn[invoice % Math.max(1, drawn.length)]?.id ?? null), subscriptionId: ofCustomer ? null : subscriptionId,
    priceId: newId(), productId, priceType: 'recurring', name: 'line', quantity: 1, amountAtom, currency, debitItemId: debit === null ? null : ids[debit % ids.length],
    deletedAt: deleted ? at(3) : null, periodStart: at(0), periodEnd: at(30),
  })));
  await put(paymentProcessors, wanted.connections.map(({ kind, minimum, enabled, deleted }) => ({
    id: newId(), accountId, name: kind, kind, settings: minimum === null ? null : { minimum_amounts: { eur: minimum } }, isEnabled: enabled, deletedAt: deleted ? at(1) : null,
  })));
  return { accountId, subscriptionId };
}

describe('the standing of a subscription, read in one round trip', () => {
  it('is what its parts say one by one, in whatever state', async () => {
    await fc.assert(
      fc.asyncProperty(state, (wanted) => untold(async (db) => {
        const { accountId, subscriptionId } = await stored(db, wanted);
        const row = (await findSubscription(db, accountId, subscriptionId))!;
        const { billed: _billed, periodInvoices: _paid, ...facts } = await readFacts(db, row, clock);
        const standing = (await readStanding(db, { accountId, subscriptionId }, clock))!;
        expect(standing.row).toEqual(row);
        expect(standing.items).toEqual(await readPricedItems(db, [subscriptionId]));
        expect({ ...standing.facts, billed: [], periodInvoices: [] }).toEqual({ ...facts, billed: [], periodInvoices: [] });
        const all = await db.select().from(invoices).where(eq(invoices.subscriptionId, subscriptionId));
        for (const { id, paymentIntentId } of all) if (standing.intents.has(id)) expect(standing.intents.get(id)).toBe(paymentIntentId);
        for (const { id } of facts.openInvoices) expect(standing.intents.has(id)).toBe(true);
        expect(await readStanding(db, { accountId: newId(), subscriptionId }, clock)).toBeNull();
      })),
      { numRuns: Number(process.env.SIGNALBOX_STANDING_RUNS ?? 40) },
    );
  });
});
