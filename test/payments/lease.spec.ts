import { asc, eq, sql } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { takeLease } from '../../libs/db/payment-lease.writes.js';
import { chargesOfIntent, intentById } from '../../libs/db/payment.queries.js';
import { insertEvidence, wakePayment } from '../../libs/db/payment.writes.js';
import { attemptEvidence, attentionItems, events, paymentIntents, refunds } from '../../libs/db/schema/index.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { advancePayment } from '../../libs/payments/advance-payment.js';
import { cancelIntent } from '../../libs/payments/cancel-intent.js';
import { createIntent } from '../../libs/payments/create-intent.js';
import { describeIntent } from '../../libs/payments/describe-intent.js';
import { createPaymentDeps, type PaymentDeps } from '../../libs/payments/payment.deps.js';
import { parsePublicId, publicId } from '../../libs/views/ids.js';
import { eventually, shared } from '../support/stack.js';
import { cardOf, ledgerOf, moneyTaken, openShop, type Shop } from './shop.js';

let shop: Shop;
let database: Database;

/** What one worker process has. */
function newProcess(owner: string): PaymentDeps {
  const [id, key] = shared.secretKeysStaging.split(',')[0]!.split(':');
  const secrets = createSecretBox([{ id: id!, key: Buffer.from(key!, 'base64') }]);
  return createPaymentDeps({ db: database.db, environment: 'staging', secrets, simulatorUrl: shared.simulatorUrl, owner });
}

beforeAll(async () => {
  database = connect(shared.databaseUrlStaging, { max: 10 });
  const settings = { total_timeout_ms: 7_000, settle_after_ms: 1_000 };
  shop = await openShop({ settings: { a: settings, b: settings } });
});
afterAll(() => database?.close());

const uuid = (kind: 'cus' | 'pm' | 'route' | 'processor', id: string) => parsePublicId(kind, 'staging', id)!;

/** A payment that no workflow drives. */
async function newPayment(simulate?: unknown, routeId: string | null = null): Promise<string> {
  const method = await cardOf(shop);
  const change = systemChange('staging', shop.id);
  const intent = await transact(database.db, change, (tx) =>
    createIntent(tx, change, {
      id: newId(),
      customerId: uuid('cus', shop.customer),
      amountAtom: 1_500,
      currency: 'eur',
      paymentMethodId: uuid('pm', method),
      paymentRouteId: routeId,
      confirm: true,
      driver: 'workflow',
      customFields: simulate ? { simulate } : null,
    }));
  return intent.id;
}

const publicIntent = (id: string) => publicId('pi', 'staging', id);
const later = (ms: number) => new Date(Date.now() + ms).toISOString();
const advance = (deps: PaymentDeps, intentId: string, now?: string) => advancePayment(deps, { intentId, driver: 'workflow', now });
/** As a workflow's first pass does: lease and first attempt at once. */
const begin = (deps: PaymentDeps, intentId: string) => advancePayment(deps, { intentId, driver: 'workflow', first: true });

describe('the lease', () => {
  it('lets one of many processes move the payment; the others are told when to ask again', async () => {
    const id = await newPayment();
    const results = await Promise.all(Array.from({ length: 8 }, (_, index) => (index % 2 ? advance : begin)(newProcess(`p${index}`), id)));
    expect(results.filter((result) => result.state === 'final' && result.status === 'succeeded').length).toBeGreaterThan(0);
    for (const busy of results.filter((result) => result.state === 'busy')) expect(Date.parse(busy.nextAt!)).toBeGreaterThan(Date.now() - 5_000);
    expect(await ledgerOf(shop, publicIntent(id))).toHaveLength(1);
  }, 180_000);

  it('is renewed while a call is under way, so that a call longer than the lease keeps it', async () => {
    const id = await newPayment({ [shop.a]: 'delay_5s' });
    const [first, second] = [newProcess('first'), newProcess('second')];
    const running = begin(first, id);
    await eventually(async () => (await chargesOfIntent(database.db, id)).length === 1);
    await eventually(async () => {
      const result = await advance(second, id);
      if (result.state !== 'busy') return result.state;
      return (await intentById(database.db, id))!.status === 'succeeded';
    });
    expect(await running).toMatchObject({ state: 'final', status: 'succeeded' });
    expect(await ledgerOf(shop, publicIntent(id))).toHaveLength(1);
    expect((await intentById(database.db, id))!.leaseToken).toBe(1);
  }, 180_000);

  it('lost during a call: the outcome becomes evidence, the next holder finishes, one charge is made', async () => {
    const id = await newPayment({ [shop.a]: 'delay_5s' });
    const running = begin(newProcess('slow'), id);
    await eventually(async () => (await chargesOfIntent(database.db, id)).length === 1);
    await database.db.update(paymentIntents).set({ leaseUntil: sql`clock_timestamp() - interval '1 second'` as never }).where(eq(paymentIntents.id, id));
    const taken = await takeLease(database.db, id, { owner: 'thief', driver: 'workflow' });
    expect(taken.taken).toBe(true);
    expect(await running).toMatchObject({ state: 'busy' });
    const [evidence] = await database.db.select().from(attemptEvidence).where(eq(attemptEvidence.paymentIntentId, id));
    expect(evidence).toMatchObject({ appliedAt: null, outcome: expect.objectContaining({ outcomeClass: 'approved' }) });
    const result = await eventually(async () => {
      const next = await advance(newProcess('next'), id);
      return next.state === 'final' ? next : null;
    });
    expect(result.status).toBe('succeeded');
    expect(await ledgerOf(shop, publicIntent(id))).toHaveLength(1);
  }, 180_000);

  it('a wake while it is held makes the holder look again before it lets go', async () => {
    const id = await newPayment({ [shop.a]: 'delay_5s' });
    const running = advance(newProcess('holder'), id);
    await eventually(async () => (await chargesOfIntent(database.db, id)).length === 1);
    const change = systemChange('staging', shop.id);
    await transact(database.db, change, (tx) => wakePayment(tx, id));
    expect(await running).toMatchObject({ state: 'final', status: 'succeeded' });
    expect(await intentById(database.db, id)).toMatchObject({ settled: true, leaseUntil: null, wakeSeq: 1 });
  }, 180_000);
});

describe('the first attempt', () => {
  it('that takes the lease with it stands on the payment as it is: described meanwhile, woken meanwhile', async () => {
    const id = await newPayment();
    const change = systemChange('staging', shop.id);
    await transact(database.db, change, (tx) => describeIntent(tx, change, { intentId: id, description: 'for a friend' }));
    await transact(database.db, change, (tx) => wakePayment(tx, id));
    expect(await begin(newProcess('first'), id)).toMatchObject({ state: 'final', status: 'succeeded' });
    expect(await intentById(database.db, id)).toMatchObject({ description: 'for a friend', settled: true, leaseToken: 1, leaseUntil: null });
    const told = await database.db.select().from(events).where(eq(events.objectId, id)).orderBy(asc(events.sequence));
    expect(told.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['payment_intent.created', 1], ['payment_intent.updated', 2], ['payment_intent.succeeded', 3],
    ]);
  });

  it('of a payment that ended long ago, or has a holder, does not begin', async () => {
    const [ended, taken] = [await newPayment(), await newPayment()];
    await begin(newProcess('first'), ended);
    await takeLease(database.db, taken, { owner: 'other', driver: 'workflow' });
    expect(await begin(newProcess('second'), ended)).toMatchObject({ state: 'final', status: 'succeeded' });
    expect(await begin(newProcess('second'), taken)).toMatchObject({ state: 'busy', status: 'processing' });
    expect(await chargesOfIntent(database.db, taken)).toHaveLength(0);
    expect(await ledgerOf(shop, publicIntent(ended))).toHaveLength(1);
  });
});

describe('an attempt found without an outcome', () => {
  it('is resolved by the identical request, with one charge', async () => {
    const id = await newPayment({ [shop.a]: 'delay_5s' });
    const dying = newProcess('dying');
    void begin(dying, id).catch(() => undefined);
    await eventually(async () => (await chargesOfIntent(database.db, id)).length === 1);
    await database.db
      .update(paymentIntents)
      .set({ leaseToken: sql`${paymentIntents.leaseToken} + 1` as never, leaseUntil: null })
      .where(eq(paymentIntents.id, id));
    await eventually(
      async () => {
        const result = await advancePayment(newProcess('heir'), { intentId: id, driver: 'workflow', now: later(60_000), first: true });
        return result.state === 'final' ? result : null;
      },
      { timeoutMs: 30_000, intervalMs: 500 },
    );
    expect(await intentById(database.db, id)).toMatchObject({ status: 'succeeded' });
    expect(await ledgerOf(shop, publicIntent(id))).toHaveLength(1);
  }, 180_000);
});

describe('an unknown outcome', () => {
  it('that the provider never heard of is absent for certain only after two reads, then another connection is tried', async () => {
    const id = await newPayment({ [shop.a]: 'error_before_charge' });
    const deps = newProcess('patient');
    expect(await advance(deps, id)).toMatchObject({ state: 'waiting', status: 'processing', outcomeClass: 'unknown' });
    for (const at of [6_000, 32_000]) expect(await advance(deps, id, later(at))).toMatchObject({ state: 'waiting', status: 'processing' });
    expect((await chargesOfIntent(database.db, id))[0]).toMatchObject({ sendingClosedAt: null, lookups: 2 });
    expect(await advance(deps, id, later(125_000))).toMatchObject({ state: 'waiting', status: 'processing' });
    const [charge] = await chargesOfIntent(database.db, id);
    expect(charge!.sendingClosedAt).not.toBeNull();
    expect(charge!.absentAt).not.toBeNull();
    expect(await advance(deps, id, later(200_000))).toMatchObject({ state: 'final', status: 'succeeded' });
    expect((await chargesOfIntent(database.db, id)).map((each) => [each.status, each.outcomeClass])).toEqual([
      ['failed', 'not_sent'],
      ['succeeded', 'approved'],
    ]);
    expect(await moneyTaken(shop, publicIntent(id))).toHaveLength(1);
  }, 180_000);

  it('that cannot be found out in 24 hours is an exception on the attention list', async () => {
    await shop.admin.put(`/payment-processors/${shop.a}`, { settings: { total_timeout_ms: 7_000, settle_after_ms: 86_400_000 } });
    const id = await newPayment({ [shop.a]: 'error_before_charge' });
    const deps = newProcess('resigned');
    await advance(deps, id);
    for (const seconds of [6, 32, 125, 620, 3_700, 22_000, 87_000]) await advance(deps, id, later(seconds * 1_000));
    const intent = await intentById(database.db, id);
    expect(intent).toMatchObject({ status: 'exception', settled: true });
    const [line] = await database.db.select().from(attentionItems).where(eq(attentionItems.objectId, id));
    expect(line).toMatchObject({ type: 'payment_exception', resolvedAt: null });
    expect(await chargesOfIntent(database.db, id)).toHaveLength(1);
  }, 180_000);
});

describe('a success that is told late', () => {
  it('counts while the payment is open; after a cancel it is refunded once', async () => {
    const id = await newPayment('do_not_honor');
    const deps = newProcess('late');
    expect(await advance(deps, id)).toMatchObject({ status: 'requires_payment_method' });
    const change = systemChange('staging', shop.id);
    await transact(database.db, change, (tx) => cancelIntent(tx, change, { intentId: id }));
    await database.db.update(paymentIntents).set({ simulate: null }).where(eq(paymentIntents.id, id));
    const [charge] = await chargesOfIntent(database.db, id);
    const connection = (await deps.connections.one(shop.id, charge!.processorId))!;
    const reference = `${publicIntent(id)}-late`;
    const { rows } = await database.db.execute<{ their: string }>(
      sql`select their_payment_method_id as their from payment_method_mappings where payment_method_id = ${charge!.paymentMethodId} and processor_id = ${charge!.processorId}`,
    );
    const outcome = await deps.processors.processorFor('simulator').authorize(connection, {
      reference, idempotencyKey: reference, amountAtom: 1_500, currency: 'eur', capture: 'automatic', theirPaymentMethodId: rows[0]!.their, offSession: false,
    });
    expect(outcome.outcomeClass).toBe('approved');
    const evidence = { paymentIntentId: id, chargeId: charge!.id, operationId: null, leaseToken: 1, outcome: outcome as never };
    await transact(database.db, change, (tx) => insertEvidence(tx, evidence, new Date()));
    await transact(database.db, change, (tx) => insertEvidence(tx, evidence, new Date()));
    await eventually(async () => (await advance(deps, id)).state === 'final');
    expect(await intentById(database.db, id)).toMatchObject({ status: 'canceled', amountReceivedAtom: 0 });
    const made = await database.db.select().from(refunds).where(eq(refunds.paymentIntentId, id));
    expect(made).toMatchObject([{ status: 'succeeded', amountAtom: 1_500 }]);
    const ledger = (await (await fetch(`${shared.simulatorUrl}/ledger?reference=${reference}`)).json()) as { payments: { amount_refunded: number }[] };
    expect(ledger.payments.map((payment) => payment.amount_refunded)).toEqual([1_500]);
  }, 180_000);
});
