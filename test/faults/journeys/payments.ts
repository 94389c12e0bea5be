import { cardNumbers } from '../shop.js';
import { answerChallenge, atOnce, declines, intentOf, pay, paymentBody, reaches, resting, sure, triggers, troubles, type Journey, type Simulate } from './journey.js';

export async function oneOff(journey: Journey): Promise<void> {
  const { random } = journey;
  await pay(journey, { card: random.pick(cardNumbers.good), route: random.pick(['single', 'pair', 'trio', 'unkeyed']), offSession: random.chance(0.2) });
}

/** Every trigger of the provider comes up, one after the other. */
export async function everyTrigger(journey: Journey): Promise<void> {
  const { random, index } = journey;
  const simulate = triggers[index % triggers.length]!;
  const answer = await pay(journey, { simulate, route: random.pick(['single', 'pair', 'trio', 'unkeyed']), manual: random.chance(0.25) });
  const id = intentOf(answer);
  if (id && random.chance(0.5)) await reaches(journey, id, ...resting);
}

/** The first connections fail each in its own way; the last one may take the payment. */
export async function fallback(journey: Journey): Promise<void> {
  const { random, shop } = journey;
  const trouble = () => random.pick([...troubles, ...declines, 'partial_approval', 'challenge'] as const);
  const simulate: Simulate = { [shop.a]: trouble(), [shop.b]: trouble(), [shop.c]: random.chance(0.7) ? 'approved' : trouble() };
  const answer = await pay(journey, { simulate, route: random.pick(['trio', 'unkeyed', 'pair']), manual: random.chance(0.2), offSession: random.chance(0.1) });
  const id = intentOf(answer);
  if (id) await reaches(journey, id, ...resting);
}

/** The same request several times at once: one payment. */
export async function duplicates(journey: Journey): Promise<void> {
  const { caller, random } = journey;
  const body = await paymentBody(journey, { route: random.pick(['single', 'trio', 'unkeyed']) });
  const copies = Array.from({ length: random.between(2, 5) }, () => ({ path: '/payment-intents/', body, key: `${journey.name}-same` }));
  await atOnce(journey, copies);
  if (random.chance(0.4)) await caller.insist({ method: 'POST', ...copies[0]! });
}

/** The caller leaves at some moment and never asks again, or asks once more much later. */
export async function leaves(journey: Journey): Promise<void> {
  const { caller, random } = journey;
  const ask = { method: 'POST' as const, path: '/payment-intents/', key: caller.newKey(), body: await paymentBody(journey, { route: random.pick(['pair', 'trio']) }) };
  await caller.once({ ...ask, hangUpMs: random.between(1, 400) });
  if (random.chance(0.5)) await caller.insist(ask);
}

export async function confirmAfterDecline(journey: Journey): Promise<void> {
  const { caller, random, shop } = journey;
  const first = await pay(journey, { card: random.pick([...cardNumbers.declined, cardNumbers.fraud, cardNumbers.failing]), route: random.pick(['single', 'pair', 'unkeyed']) });
  const id = intentOf(first);
  if (!id || !(await reaches(journey, id, 'requires_payment_method', 'exception'))) return;
  const { payment_method_id } = (await paymentBody(journey, { card: random.pick(cardNumbers.good) })) as { payment_method_id: string };
  const confirm = { path: `/payment-intents/${id}/confirm`, body: { payment_method_id } };
  if (random.chance(0.3)) await atOnce(journey, [confirm, confirm]);
  else await caller.post(confirm.path, confirm.body, { hangUpMs: random.chance(0.2) ? random.between(5, 800) : undefined });
  if (random.chance(0.2)) await caller.get(`/payment-intents/${id}/decisions`);
  if (random.chance(0.1)) await caller.get(`/customers/${shop.customer}`);
}

/** Made first, confirmed or cancelled later, or both at the same time. */
export async function inTwoSteps(journey: Journey): Promise<void> {
  const { random } = journey;
  const id = intentOf(await pay(journey, { confirm: false, route: random.pick(['single', 'trio']) }));
  if (!id) return;
  const asks = [{ path: `/payment-intents/${id}/confirm` }, { path: `/payment-intents/${id}/cancel` }];
  await atOnce(journey, random.chance(0.5) ? asks : [random.pick(asks)]);
}

export async function challenge(journey: Journey): Promise<void> {
  const { caller, random } = journey;
  const card = random.pick([cardNumbers.challenged, cardNumbers.challengedPoor]);
  const answer = await pay(journey, { card, route: random.pick(['single', 'pair', 'unkeyed']), manual: random.chance(0.3) });
  const id = intentOf(answer);
  const intent = id ? await reaches(journey, id, ...resting) : null;
  const redirect = intent?.next_action?.redirect_url as string | undefined;
  if (!id || !redirect) return;
  const cancel = { path: `/payment-intents/${id}/cancel` };
  switch (random.weighted({ passed: 45, failed: 15, abandoned: 20, race: 10, replaced: 10 })) {
    case 'passed':
      await answerChallenge(journey, redirect, 'passed');
      break;
    case 'failed':
      await answerChallenge(journey, redirect, 'failed');
      break;
    case 'abandoned':
      await caller.post(cancel.path);
      break;
    case 'race':
      await Promise.all([answerChallenge(journey, redirect, 'passed'), atOnce(journey, [cancel])]);
      break;
    case 'replaced': {
      const { payment_method_id } = (await paymentBody(journey, {})) as { payment_method_id: string };
      await Promise.all([
        atOnce(journey, [{ path: `/payment-intents/${id}/confirm`, body: { payment_method_id } }]),
        random.chance(0.5) ? answerChallenge(journey, redirect, 'passed') : null,
      ]);
    }
  }
  if (random.chance(0.3)) await reaches(journey, id, 'succeeded', 'canceled', 'requires_payment_method', 'requires_capture', 'exception');
}

export async function pending(journey: Journey): Promise<void> {
  const { caller, random } = journey;
  const simulate = random.pick(['pending_then_approved', 'pending_then_declined', 'late_callback', 'reordered_callbacks'] as const);
  const id = intentOf(await pay(journey, { simulate, route: random.pick(['single', 'trio', 'unkeyed']), manual: random.chance(0.2) }));
  if (!id) return;
  if (random.chance(0.4)) await caller.post(`/payment-intents/${id}/cancel`);
  if (random.chance(0.3)) await caller.post(`/payment-intents/${id}/confirm`);
}

const dayMs = 24 * 3_600_000;

/** Paid at once for a month, or for the seconds until a renewal that comes while the run lasts. */
export async function subscribe(journey: Journey): Promise<void> {
  const { caller, random, shop } = journey;
  const { payment_method_id } = (await paymentBody(journey, { card: random.pick(cardNumbers.good) })) as { payment_method_id: string };
  const renews = random.chance(0.6);
  const simulate = random.pick([null, null, 'timeout_after_charge', 'error_before_charge', 'pending_then_approved', 'do_not_honor'] as const);
  const body = {
    customer_id: shop.customer,
    selected_product_price_quantity: [{ price_id: await shop.price(renews ? 'day' : 'month'), quantity: random.between(1, 3) }],
    payment_method_id,
    payment_route_id: shop.routes[random.pick(['pair', 'trio', 'unkeyed'] as const)],
    trial_period_days: 0,
    ...(renews ? { starts_at: new Date(Date.now() - 3 * dayMs + random.between(15, 40) * 1_000).toISOString() } : {}),
    ...(simulate ? { custom_fields: { simulate } } : {}),
  };
  sure(await caller.post('/subscriptions/', body, { hangUpMs: random.chance(0.15) ? random.between(5, 1_000) : undefined }));
}
