import { heldFor, invoicesOf, openStore, subscribe, type Store } from '../subscriptions/store.js';
import { chargesOf } from '../payments/shop.js';
import { eventually } from '../support/stack.js';
import { advanceTo, onClock } from './hall.js';

let store: Store;

beforeAll(async () => {
  const unkeyed = { idempotency: false, total_timeout_ms: 1_000, connect_timeout_ms: 500 };
  store = await openStore({ settings: { a: unkeyed, b: unkeyed } });
});

/** Longer than the provider takes for `delay_5s`. */
const untilLateMs = 7_000;

describe('a charge on a test clock whose request takes effect long after the clock has moved on', () => {
  it('is refused by the provider, whose reference was closed: the invoice is charged once', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const { id } = await subscribe(hall, { custom_fields: { simulate: { 'month:2030-02': 'delay_5s, approved' } } });
    await advanceTo(hall, '2030-02-20T00:00:00.000Z');
    const [, february] = await invoicesOf(hall, id);
    expect(february).toMatchObject({ status: 'paid', period_start: '2030-02-01T00:00:00.000Z' });
    const charges = await chargesOf(hall, february.latest_payment_intent_id);
    const lost = charges.filter(({ outcome_class: outcome }) => outcome === 'not_sent');
    expect([lost.length > 0, charges.length - lost.length]).toEqual([true, 1]);
    const began = Date.now();
    await eventually(() => Date.now() - began > untilLateMs, { timeoutMs: 2 * untilLateMs });
    expect((await heldFor(hall, february)).filter(({ amount_captured: captured }) => captured > 0)).toHaveLength(1);
  }, 180_000);
});
