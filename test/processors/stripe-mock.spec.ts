import { Stripe } from 'stripe';
import type { AuthorizeCall, Connection, ProcessorAdapter } from '../../libs/processors/port.js';
import { createStripeAdapter } from '../../libs/processors/stripe/stripe.adapter.js';
import { stripeApiVersion } from '../../libs/processors/stripe/stripe.client.js';
import { findStripeMock, StripeMock } from './stripe-mock.js';

const found = await findStripeMock();
if ('missing' in found) process.stdout.write(`SKIPPED test/processors/stripe-mock.spec.ts: ${found.missing}\n`);
const withMock = 'binary' in found ? describe : describe.skip;

/** What Stripe's own description of its API says about our requests; its answers are the same whatever was asked. */
withMock('every request of the adapter', () => {
  let mock: StripeMock;
  let adapter: ProcessorAdapter;
  let connection: Connection;

  beforeAll(async () => {
    mock = await StripeMock.start((found as { binary: string }).binary);
    adapter = createStripeAdapter({ allowLoopback: true });
    connection = {
      id: 'mock', publicId: 'processor_stg_1', kind: 'stripe', settings: { api_base: mock.url }, deadlines: { connectMs: 1_000, totalMs: 10_000 },
      credentials: { secret_key: 'sk_test_123' },
    };
  });

  afterAll(async () => {
    await adapter?.close();
    await mock?.stop();
  });

  const call = (more: Partial<AuthorizeCall> = {}): AuthorizeCall => ({
    reference: 'pi_stg_1-1', idempotencyKey: 'pi_stg_1-1', amountAtom: 1_000, currency: 'eur', capture: 'automatic', offSession: false,
    theirPaymentMethodId: 'pm_1', returnUrl: 'https://shop.example/back', metadata: { payment_intent: 'pi_stg_1' }, processorPaymentId: 'pi_1', ...more,
  });
  const operation = { reference: 'pi_stg_1-1-x', idempotencyKey: 'pi_stg_1-1-x', processorPaymentId: 'pi_1' };

  it('is accepted by Stripe\'s description of its own API', async () => {
    mock.changes.push([/"disputed":\s*false/g, '"disputed": true'], [/"status":\s*"requires_payment_method"/g, '"status": "requires_action"']);
    await adapter.check(connection);
    for (const token of ['tok_visa', 'pm_1']) await adapter.tokenise(connection, { reference: 'pm_stg_1', idempotencyKey: `t-${token}`, source: { token } });
    await adapter.verify(connection, { ...operation, theirPaymentMethodId: 'pm_1', amountAtom: 0, currency: 'eur' });
    for (const more of [{}, { capture: 'manual' }, { offSession: true }, { returnUrl: null }] as const) {
      await adapter.prepare!(connection, call(more));
      await adapter.authorize(connection, call(more));
    }
    await adapter.capture(connection, { ...operation, amountAtom: 500, currency: 'eur' });
    await adapter.void(connection, { ...operation, paymentReference: 'pi_stg_1-1' });
    await adapter.refund(connection, { ...operation, amountAtom: 500, currency: 'eur' });
    for (const kind of ['authorize', 'capture', 'void', 'refund'] as const) {
      await adapter.lookup(connection, { operation: kind, reference: 'pi_stg_1-1', processorPaymentId: 'pi_1' });
    }
    await adapter.list!(connection, { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z', cursor: null });
    await adapter.list!(connection, { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z', cursor: 'pi_1' });
    expect(mock.checked.filter(({ status }) => status !== 200)).toEqual([]);
    expect([...new Set(mock.checked.map(({ request }) => request))].sort()).toEqual([
      'GET /v1/balance',
      'GET /v1/disputes',
      'GET /v1/payment_intents',
      'GET /v1/payment_intents/:id',
      'GET /v1/payment_methods/:id',
      'GET /v1/refunds',
      'GET /v1/setup_intents',
      'POST /v1/customers',
      'POST /v1/payment_intents',
      'POST /v1/payment_intents/:id/cancel',
      'POST /v1/payment_intents/:id/capture',
      'POST /v1/payment_intents/:id/confirm',
      'POST /v1/payment_methods',
      'POST /v1/payment_methods/:id/attach',
      'POST /v1/refunds',
      'POST /v1/setup_intents',
    ]);
  });

  it('would be refused if it were wrong', async () => {
    const { hostname, port } = new URL(mock.url);
    const stripe = new Stripe('sk_test_123', { apiVersion: stripeApiVersion, host: hostname, port, protocol: 'http', telemetry: false, maxNetworkRetries: 0 });
    await expect(stripe.paymentIntents.create({ amount: 1, currency: 'eur', made_up: true } as never)).rejects.toMatchObject({ statusCode: 400 });
    await expect(stripe.paymentIntents.create({ currency: 'eur' } as never)).rejects.toMatchObject({ statusCode: 400 });
  });
});
