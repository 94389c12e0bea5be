import type { WorkflowHandle } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { connect, type Database, type Tx } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { captureIntent } from '../../libs/payments/capture-intent.js';
import { createIntent } from '../../libs/payments/create-intent.js';
import { createPaymentDeps } from '../../libs/payments/payment.deps.js';
import { paymentStart } from '../../libs/payments/payment-start.js';
import { wakePaymentWorkflow } from '../../libs/temporal/payment.client.js';
import { endStuckWorkflow } from '../../libs/temporal/stuck-workflow.js';
import { parsePublicId, publicId } from '../../libs/views/ids.js';
import { openEngine, type Engine } from '../support/engine.js';
import { eventually, shared } from '../support/stack.js';
import { cardOf, ledgerOf, openShop, settled, type Shop } from './shop.js';

let shop: Shop;
let database: Database;
let engine: Engine;

beforeAll(async () => {
  database = connect(shared.databaseUrlStaging, { max: 4 });
  engine = await openEngine();
  shop = await openShop();
});
afterAll(async () => {
  await database?.close();
  await engine?.close();
});

const attempts = async (handle: WorkflowHandle) => (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0;

describe('a payment that nobody drives', () => {
  it('because its workflow fails at each of its tasks is taken from it and goes on with a new one: one charge', async () => {
    const [id, key] = shared.secretKeysStaging.split(',')[0]!.split(':');
    const secrets = createSecretBox([{ id: id!, key: Buffer.from(key!, 'base64') }]);
    const deps = createPaymentDeps({ db: database.db, environment: 'staging', secrets, simulatorUrl: shared.simulatorUrl, owner: 'spec' });
    const change = systemChange('staging', shop.id);
    const uuid = (kind: 'cus' | 'pm', value: string) => parsePublicId(kind, 'staging', value)!;
    const wish = { id: newId(), customerId: uuid('cus', shop.customer), amountAtom: 700, currency: 'eur', paymentMethodId: uuid('pm', await cardOf(shop)), confirm: true };
    const payment = publicId('pi', 'staging', wish.id);
    const broken = await engine.client.workflow.start('noSuchWorkflow', { workflowId: `payment/${payment}`, taskQueue: 'payments' });
    const intent = await transact(database.db, change, (tx) => createIntent(tx, change, { ...wish, driver: 'workflow' }));
    await wakePaymentWorkflow(engine.client, await paymentStart(deps, intent));
    expect((await broken.describe()).status.name).toBe('RUNNING');
    expect(await eventually(async () => (await attempts(broken)) >= 3 && endStuckWorkflow(engine.client, `payment/${payment}`, 3), { timeoutMs: 60_000 })).toBe(true);
    await wakePaymentWorkflow(engine.client, await paymentStart(deps, intent));
    await settled(shop, payment, 'succeeded');
    expect(await ledgerOf(shop, payment)).toHaveLength(1);
  }, 180_000);

  it('whose sender died during a capture of which the engine knows nothing goes on, and is captured once', async () => {
    const held = await shop.admin.post('/payment-intents/', {
      amount_atom: 800, currency: 'eur', customer_id: shop.customer, payment_method_id: await cardOf(shop), confirm: true, capture_method: 'manual',
    });
    const intentId = parsePublicId('pi', 'staging', held.body.id)!;
    const change = systemChange('staging', shop.id);
    await database.db.transaction(async (tx) => {
      await captureIntent(tx as Tx, change, { intentId, amountAtom: 500 });
      await tx.execute(sql`update charge_operations set first_sent_at = now() - interval '30 seconds', call_by = now() - interval '20 seconds' where payment_intent_id = ${intentId}`);
      await tx.execute(sql`update payment_intents set driver = 'workflow', lease_until = null, lease_token = lease_token + 1 where id = ${intentId}`);
    });
    expect(await settled(shop, held.body.id, 'succeeded')).toMatchObject({ amount_atom_received: 500 });
    const [payment] = await ledgerOf(shop, held.body.id);
    expect(payment).toMatchObject({ amount_captured: 500 });
  }, 180_000);

  it('keeps a workflow that runs', async () => {
    const waiting = await shop.admin.post('/payment-intents/', {
      amount_atom: 900, currency: 'eur', customer_id: shop.customer, payment_method_id: await cardOf(shop), confirm: true, capture_method: 'manual',
    });
    expect(waiting.body.status).toBe('requires_capture');
    expect(await endStuckWorkflow(engine.client, `payment/${waiting.body.id}`, 2)).toBe(false);
    expect(await endStuckWorkflow(engine.client, 'payment/pi_stg_gone', 2)).toBe(false);
  });
});
