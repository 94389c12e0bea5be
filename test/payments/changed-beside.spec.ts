import { sql } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { releaseLease, takeLease } from '../../libs/db/payment-lease.writes.js';
import { chargesOfIntent, intentById } from '../../libs/db/payment.queries.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { commitMove, PaymentChanged } from '../../libs/payments/commit-move.js';
import type { HeldPayment } from '../../libs/payments/held-payment.js';
import { loadPayment } from '../../libs/payments/load-payment.js';
import type { Move } from '../../libs/payments/move.js';
import { createPaymentDeps, type PaymentDeps } from '../../libs/payments/payment.deps.js';
import { recordOutcome } from '../../libs/payments/record-outcome.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { eventually, shared } from '../support/stack.js';
import { chargesOf, openShop, pay, type Shop } from './shop.js';

let shop: Shop;
let database: Database;
let deps: PaymentDeps;

beforeAll(async () => {
  database = connect(shared.databaseUrlStaging, { max: 6 });
  const [id, key] = shared.secretKeysStaging.split(',')[0]!.split(':');
  const secrets = createSecretBox([{ id: id!, key: Buffer.from(key!, 'base64') }]);
  deps = createPaymentDeps({ db: database.db, environment: 'staging', secrets, simulatorUrl: shared.simulatorUrl, owner: 'spec' });
  shop = await openShop();
});
afterAll(() => database?.close());

/** A paid payment whose lease is taken, as a holder read it. */
async function heldPayment(): Promise<{ held: HeldPayment; payment: string; charge: string }> {
  const { body } = await pay(shop, { amount: 5_000 });
  const intentId = parsePublicId('pi', 'staging', body.id)!;
  await database.db.execute(sql`update payment_intents set settled = false, driver = 'workflow' where id = ${intentId}`);
  const askedAt = performance.now();
  const taken = await eventually(async () => {
    const lease = await takeLease(database.db, intentId, { owner: 'spec', driver: 'workflow' });
    return lease.taken ? lease : null;
  });
  const lease = deps.leases.hold(intentId, taken.intent.leaseToken, askedAt);
  const origin = { actor: 'system', requestId: null, idempotencyKey: null, clockTime: null };
  return { held: await loadPayment(deps, taken.intent, { lease, clock: Date.now, origin }), payment: body.id, charge: body.charge_ids[0] };
}

async function letGo(held: HeldPayment): Promise<void> {
  deps.leases.drop(held.lease);
  const { intentId, token } = held.lease;
  await eventually(async () => releaseLease(database.db, { intentId, token }, { seenWake: (await intentById(database.db, intentId))!.wakeSeq, settled: false, nextActionAt: null }));
  await database.db.execute(sql`update payment_intents set driver = 'api' where id = ${intentId}`);
}

/** As a refund that was made at the processor is booked. */
const booked = (held: HeldPayment, amount: number): Move => ({
  step: `spec:${amount}`,
  charge: { id: held.charges[0]!.id, set: { refundedAtom: held.charges[0]!.refundedAtom + amount } },
  events: { charge: 'charge.updated' },
});

describe('a charge that is changed beside the lease', () => {
  it('keeps the amount that a refund reserved meanwhile: what was read before is not written', async () => {
    const { held, charge } = await heldPayment();
    const answer = shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 4_500 });
    await eventually(async () => (await chargesOfIntent(database.db, held.intent.id))[0]!.refundedAtom === 4_500);
    await expect(commitMove(deps, held, booked(held, 1_000))).rejects.toBeInstanceOf(PaymentChanged);
    expect((await chargesOfIntent(database.db, held.intent.id))[0]!.refundedAtom).toBe(4_500);
    const after = await recordOutcome(deps, held, (current) => booked(current, 300));
    expect(after.charges[0]!.refundedAtom).toBe(4_800);
    await letGo(held);
    expect((await answer).status).toBe(201);
    await eventually(async () => (await chargesOf(shop, (await shop.admin.get(`/charges/${charge}`)).body.payment_intent_id))[0]!.refunded_amount_atom === 4_800);
  }, 180_000);

  it('and the intent its sum of a refund that was reported by hand', async () => {
    const { held, payment, charge } = await heldPayment();
    const reported = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 2_000, refunded_out_of_band: true });
    expect([reported.status, reported.body.status]).toEqual([201, 'succeeded']);
    const sum = (current: HeldPayment): Move => ({
      ...booked(current, 500),
      intent: { amountRefundedAtom: current.intent.amountRefundedAtom + 500 },
      events: { charge: 'charge.refunded', intent: 'payment_intent.updated' },
    });
    await expect(commitMove(deps, held, sum(held))).rejects.toBeInstanceOf(PaymentChanged);
    await recordOutcome(deps, held, sum);
    await letGo(held);
    expect((await shop.admin.get(`/payment-intents/${payment}`)).body.amount_atom_refunded).toBe(2_500);
    expect((await shop.admin.get(`/charges/${charge}`)).body.refunded_amount_atom).toBe(2_500);
  }, 180_000);
});
