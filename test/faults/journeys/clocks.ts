import { cardNumbers, cardOf, made } from '../shop.js';
import { sure, type Journey } from './journey.js';

const dayMs = 24 * 3_600_000;
const start = Date.UTC(2028, 0, 31, 10);
const simulations = [null, null, 'timeout_after_charge', 'error_before_charge', 'pending_then_approved', 'do_not_honor'] as const;

/** Months of a subscription in a few advances, each asked for until the answer is certain, while everything breaks. */
export async function rehearse(journey: Journey): Promise<void> {
  const { caller, random, shop, name } = journey;
  const clock = (await made(caller, '/test-clocks/', { frozen_time: new Date(start).toISOString() })).id as string;
  const customer = (await made(caller, '/customers/', { email: `${name}@example.com`, test_clock_id: clock })).id as string;
  const method = await cardOf({ ...shop, customer }, caller, random.pick(cardNumbers.good));
  const simulate = random.pick(simulations);
  const body = {
    customer_id: customer,
    selected_product_price_quantity: [{ price_id: await shop.price('month'), quantity: random.between(1, 3) }],
    payment_method_id: method,
    payment_route_id: shop.routes[random.pick(['pair', 'trio', 'unkeyed'] as const)],
    trial_period_days: random.pick([0, 0, 14]),
    ...(simulate ? { custom_fields: { simulate } } : {}),
  };
  sure(await caller.post('/subscriptions/', body, { hangUpMs: random.chance(0.15) ? random.between(5, 1_000) : undefined }));
  let at = start;
  for (let advances = random.between(1, 3); advances > 0; advances -= 1) {
    if (!(await caller.until(`/test-clocks/${clock}`, ({ status }) => status === 'ready'))) return;
    at += random.between(10, 120) * dayMs;
    const answer = sure(await caller.post(`/test-clocks/${clock}/advance`, { frozen_time: new Date(at).toISOString() }, { hangUpMs: random.chance(0.2) ? random.between(5, 800) : undefined }));
    if (answer.status >= 300) return;
  }
}
