import type { Simulate, Journey } from './journey.js';
import { atOnce, intentOf, pay, reaches, resting, troubles } from './journey.js';

type Intent = { id: string; amount_atom: number; status: string; processor_payment_intent_id: string | null };

async function settledPayment(journey: Journey, wish: Parameters<typeof pay>[1]): Promise<Intent | null> {
  const id = intentOf(await pay(journey, wish));
  return id ? ((await reaches(journey, id, ...resting)) as Intent | null) : null;
}

/** After-effects that a working charge allows for its captures and refunds too. */
function quiet({ random }: Journey): Simulate | null {
  return random.chance(0.35) ? random.pick(['timeout_after_charge', 'error_after_charge', 'malformed_answer', 'delay_5s'] as const) : null;
}

/** Authorised, then captured in full or in part, cancelled, or several of these at once. */
export async function manualCapture(journey: Journey): Promise<void> {
  const { caller, random } = journey;
  const intent = await settledPayment(journey, { manual: true, simulate: quiet(journey), route: random.pick(['single', 'pair', 'unkeyed', 'trio']) });
  if (intent?.status !== 'requires_capture') return;
  const part = random.between(1, intent.amount_atom);
  const capture = (amount_atom?: number) => ({ path: `/payment-intents/${intent.id}/capture`, body: amount_atom ? { amount_atom } : {} });
  const cancel = { path: `/payment-intents/${intent.id}/cancel` };
  const hangUpMs = random.chance(0.2) ? random.between(5, 1_000) : undefined;
  switch (random.weighted({ full: 30, part: 20, cancel: 15, twice: 15, race: 12, same: 8 })) {
    case 'full':
      await caller.post(capture().path, {}, { hangUpMs });
      break;
    case 'part':
      await caller.post(capture().path, { amount_atom: part }, { hangUpMs });
      break;
    case 'cancel':
      await caller.post(cancel.path, {}, { hangUpMs });
      break;
    case 'twice':
      await atOnce(journey, [capture(part), capture()]);
      break;
    case 'race':
      await atOnce(journey, [capture(), cancel]);
      break;
    case 'same': {
      const key = caller.newKey();
      await atOnce(journey, [{ ...capture(), key }, { ...capture(), key }, { ...capture(), key }]);
    }
  }
  if (random.chance(0.4)) await refundSome(journey, intent);
}

export async function refunds(journey: Journey): Promise<void> {
  const { random } = journey;
  const intent = await settledPayment(journey, { simulate: quiet(journey), route: random.pick(['single', 'trio', 'unkeyed']) });
  if (intent?.status === 'succeeded') await refundSome(journey, intent);
}

async function refundSome(journey: Journey, intent: Intent): Promise<void> {
  const { caller, random } = journey;
  const part = Math.max(1, Math.floor(intent.amount_atom / random.between(2, 5)));
  const refund = (amount_atom?: number) => ({ path: '/refunds/', body: { payment_intent_id: intent.id, ...(amount_atom ? { amount_atom } : {}) } });
  switch (random.weighted({ all: 25, part: 20, several: 20, atOnce: 20, over: 10, same: 5 })) {
    case 'all':
      await caller.post('/refunds/', refund().body, { hangUpMs: random.chance(0.2) ? random.between(5, 1_000) : undefined });
      break;
    case 'part':
      await caller.post('/refunds/', refund(part).body);
      break;
    case 'several':
      for (let times = random.between(2, 4); times > 0; times -= 1) await caller.post('/refunds/', refund(part).body);
      break;
    case 'atOnce':
      await atOnce(journey, Array.from({ length: random.between(2, 5) }, () => refund(random.chance(0.5) ? part : undefined)));
      break;
    case 'over':
      await atOnce(journey, [refund(intent.amount_atom * 2), refund(), refund(part)]);
      break;
    case 'same': {
      const key = caller.newKey();
      await atOnce(journey, [{ ...refund(part), key }, { ...refund(part), key }]);
    }
  }
}

/** What people do in the provider's own dashboard, perhaps while we do something ourselves. */
export async function byHandAtProvider(journey: Journey): Promise<void> {
  const { random, atProvider } = journey;
  const intent = await settledPayment(journey, { manual: random.chance(0.4), route: random.pick(['single', 'trio', 'unkeyed']) });
  const theirs = intent?.processor_payment_intent_id;
  if (!intent || !theirs) return;
  const beside = (asks: { path: string; body?: object }[]) => (random.chance(0.5) ? atOnce(journey, asks) : null);
  const payment = `/control/payments/${theirs}`;
  const part = Math.max(1, Math.floor(intent.amount_atom / 3));
  if (intent.status === 'requires_capture') {
    const what = random.pick(['capture', 'void']);
    const ours = [{ path: `/payment-intents/${intent.id}/${random.pick(['capture', 'cancel'])}` }];
    await Promise.all([atProvider(`${payment}/${what}`, {}), beside(ours)]);
  } else if (intent.status === 'succeeded') {
    const settles = random.pick([undefined, undefined, 'succeeded', 'failed']);
    const refund = { path: '/refunds/', body: { payment_intent_id: intent.id, ...(random.chance(0.5) ? { amount_atom: part } : {}) } };
    await Promise.all([atProvider(`${payment}/refunds`, { amount: part, settles }), beside([refund])]);
    if (random.chance(0.3)) await atProvider(`${payment}/disputes`, {});
  }
}

/** Everything that can be asked of a payment, at any moment, whatever its state. */
export async function anything(journey: Journey): Promise<void> {
  const { caller, random, shop } = journey;
  const simulate = random.chance(0.5) ? { [shop.a]: random.pick(troubles), [shop.b]: random.pick(troubles), [shop.c]: random.pick(troubles) } : null;
  const id = intentOf(await pay(journey, { simulate, manual: random.chance(0.5), route: random.pick(['trio', 'unkeyed', 'pair']) }));
  if (!id) return;
  for (let round = random.between(1, 3); round > 0; round -= 1) {
    const asks = Array.from({ length: random.between(1, 4) }, () => random.pick([
      { path: `/payment-intents/${id}/capture` },
      { path: `/payment-intents/${id}/cancel` },
      { path: `/payment-intents/${id}/confirm` },
      { path: '/refunds/', body: { payment_intent_id: id } },
      { path: '/refunds/', body: { payment_intent_id: id, amount_atom: 1 } },
      { path: `/payment-intents/${id}`, method: 'PUT' as const, body: { description: `round ${round}` } },
    ]));
    await atOnce(journey, asks);
    if (random.chance(0.5)) await caller.until(`/payment-intents/${id}`, (intent) => resting.includes(intent.status), 10);
  }
}
