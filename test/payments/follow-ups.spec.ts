import { eq, sql } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { chargesOfIntent, intentById, operationsOfCharge } from '../../libs/db/payment.queries.js';
import { paymentIntents } from '../../libs/db/schema/index.js';
import { updateIntent } from '../../libs/db/payment.writes.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { advancePayment } from '../../libs/payments/advance-payment.js';
import { createIntent } from '../../libs/payments/create-intent.js';
import { createPaymentDeps, type PaymentDeps } from '../../libs/payments/payment.deps.js';
import { refundCharge } from '../../libs/payments/refund-charge.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { eventually, shared } from '../support/stack.js';
import { silent } from './scripted-provider.js';
import { closeProviders, openScriptedShop, scriptedCard, type ScriptedShop } from './scripted-shop.js';
import { made } from './shop.js';

const placesAtOnce = 2;

let shop: ScriptedShop;
let database: Database;
let deps: PaymentDeps;
const opened: PaymentDeps[] = [];
let card: string;
let routes: { a: string; b: string };

const uuid = (kind: 'cus' | 'pm' | 'route' | 'processor', id: string) => parsePublicId(kind, 'staging', id)!;
const later = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

/** What one worker process has. */
function newProcess(owner: string): PaymentDeps {
  const [id, key] = shared.secretKeysStaging.split(',')[0]!.split(':');
  const secrets = createSecretBox([{ id: id!, key: Buffer.from(key!, 'base64') }]);
  const process = createPaymentDeps({ db: database.db, environment: 'staging', secrets, simulatorUrl: null, local: true, owner, followUpsAtOnce: placesAtOnce });
  opened.push(process);
  return process;
}

beforeAll(async () => {
  database = connect(shared.databaseUrlStaging, { max: 8 });
  deps = newProcess('spec');
  shop = await openScriptedShop({ settings: { idempotency_window_ms: null } });
  card = await scriptedCard(shop);
  const only = (processor: string) => ({ name: processor, route_configuration: { rules: [], default: { strategy: 'priority', processors: [processor] } } });
  routes = { a: await made(shop.admin.post('/payment-routes/', only(shop.a))), b: await made(shop.admin.post('/payment-routes/', only(shop.b))) };
});
afterAll(async () => {
  await closeProviders();
  await Promise.all(opened.map(({ processors }) => processors.close()));
  await database?.close();
});

/** A payment that no workflow drives. */
async function newPayment(route: string): Promise<string> {
  const change = systemChange('staging', shop.id);
  const wish = { id: newId(), customerId: uuid('cus', shop.customer), amountAtom: 1_500, currency: 'eur', paymentMethodId: uuid('pm', card) };
  const intent = await transact(database.db, change, (tx) =>
    createIntent(tx, change, { ...wish, paymentRouteId: uuid('route', route), confirm: true, driver: 'workflow' }));
  return intent.id;
}

const advance = (intentId: string, now?: string, by = deps) => advancePayment(by, { intentId, driver: 'workflow', now });
const chargeOf = async (id: string) => (await chargesOfIntent(database.db, id))[0]!;

async function unknownPayment(at: 'a' | 'b'): Promise<string> {
  const provider = shop.providers[at];
  provider.behave = silent(provider, { charged: true });
  const id = await newPayment(routes[at]);
  expect(await advance(id)).toMatchObject({ state: 'waiting', outcomeClass: 'unknown' });
  provider.behave = (payment) => payment;
  return id;
}

describe('a processor that hangs', () => {
  it('is asked about so many attempts at once; the others are let go until their turn with nothing lost, and those of other processors go on', async () => {
    const { a } = shop.providers;
    const stuck = [await unknownPayment('a'), await unknownPayment('a'), await unknownPayment('a'), await unknownPayment('a')];
    const elsewhere = await unknownPayment('b');
    a.hangsAt = /by-reference/;
    const asking = stuck.slice(0, placesAtOnce).map((id) => advance(id, later(6)));
    await eventually(() => a.hung.length === placesAtOnce);

    const now = Date.now();
    for (const id of stuck.slice(placesAtOnce)) {
      const { state, status, nextAt } = await advance(id, later(6));
      expect([state, status]).toEqual(['waiting', 'processing']);
      expect(Date.parse(nextAt!)).toBeGreaterThan(now + 6_000);
      expect(await chargeOf(id)).toMatchObject({ status: 'pending', outcomeClass: 'unknown', lookups: 0, nextLookupAt: new Date(nextAt!) });
      expect(await intentById(database.db, id)).toMatchObject({ leaseUntil: null, settled: false, nextActionAt: new Date(nextAt!) });
    }
    expect(a.hung).toHaveLength(placesAtOnce);
    expect(await advance(elsewhere, later(6))).toMatchObject({ state: 'final', status: 'succeeded' });

    a.resume();
    for (const result of await Promise.all(asking)) expect(result).toMatchObject({ state: 'final', status: 'succeeded' });
    for (const id of stuck.slice(placesAtOnce)) expect(await advance(id, later(700))).toMatchObject({ state: 'final', status: 'succeeded' });
    for (const id of stuck) expect(await chargesOfIntent(database.db, id)).toHaveLength(1);
    expect(a.taken).toHaveLength(stuck.length);
  }, 180_000);
});

describe('where a connection has no place left', () => {
  const connection = () => uuid('processor', shop.a);
  const full = async ({ followUps }: PaymentDeps, work: () => Promise<void>) => {
    for (let place = 0; place < placesAtOnce; place += 1) expect(followUps.begin(connection())).toBe(true);
    await work();
    for (let place = 0; place < placesAtOnce; place += 1) followUps.end(connection());
  };

  it('a refund without an answer waits for its turn, and no look of its schedule is used up', async () => {
    const { a } = shop.providers;
    const id = await newPayment(routes.a);
    expect(await advance(id)).toMatchObject({ state: 'final', status: 'succeeded' });
    const charge = await chargeOf(id);
    const change = systemChange('staging', shop.id);
    a.refuse = { refund: 'reset' };
    await transact(database.db, change, async (tx) => {
      await refundCharge(tx, change, { id: newId(), intentId: id, chargeId: charge.id, amountAtom: 400, reason: 'requested_by_customer' });
      await updateIntent(tx, id, { driver: 'workflow' });
    });
    expect(await advance(id)).toMatchObject({ state: 'waiting' });
    const [before] = await operationsOfCharge(database.db, charge.id);
    await full(deps, async () => expect(await advance(id, later(6))).toMatchObject({ state: 'waiting' }));
    const [after] = await operationsOfCharge(database.db, charge.id);
    expect(after).toMatchObject({ status: 'pending', lookups: before!.lookups });
    expect(after!.nextLookupAt!.getTime()).toBeGreaterThan(before!.nextLookupAt!.getTime());
    expect(await advance(id, later(700))).toMatchObject({ state: 'waiting' });
    expect((await operationsOfCharge(database.db, charge.id))[0]!.lookups).toBe(before!.lookups + 1);
    a.refuse = {};
  }, 180_000);

  it('an attempt that was found without an outcome is known as unknown, and repeated in its turn', async () => {
    const { a } = shop.providers;
    await shop.admin.put(`/payment-processors/${shop.a}`, { settings: { base_url: a.url } });
    a.hangsAt = /payments$/;
    const id = await newPayment(routes.a);
    const [dying, heir] = [newProcess('dying'), newProcess('heir')];
    const lost = advance(id, undefined, dying);
    await eventually(() => a.hung.length === 1);
    await database.db.update(paymentIntents).set({ leaseUntil: null, leaseToken: sql`lease_token + 1` as never }).where(eq(paymentIntents.id, id));
    await full(heir, async () => expect(await advance(id, undefined, heir)).toMatchObject({ state: 'waiting', status: 'processing', outcomeClass: 'unknown' }));
    expect(await chargeOf(id)).toMatchObject({ status: 'pending', lookups: 0 });
    a.resume();
    expect((await lost).state).toBe('busy');
    const result = await eventually(async () => {
      const next = await advance(id, later(60), heir);
      return next.state === 'final' ? next : null;
    });
    expect(result.status).toBe('succeeded');
    expect(await chargesOfIntent(database.db, id)).toHaveLength(1);
  }, 180_000);
});
