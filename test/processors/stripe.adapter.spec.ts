import { declineClasses } from '../../libs/domain/payment/decline-class.js';
import type { OutcomeClass } from '../../libs/domain/payment/outcome.js';
import type { AuthorizeCall, Connection, ProcessorAdapter } from '../../libs/processors/port.js';
import { createStripeAdapter } from '../../libs/processors/stripe/stripe.adapter.js';
import { stripeDeclines, stripeRefundFailures, stripeRefusals } from '../../libs/processors/stripe/stripe-decline.js';
import { fakeKey, fakeWebhookSecret, StripeFake, type Fault } from './stripe-fake.js';

let fake: StripeFake;
let adapter: ProcessorAdapter;
let calls = 0;

beforeAll(async () => {
  fake = await StripeFake.open();
  adapter = createStripeAdapter({ allowLoopback: true });
});

afterAll(async () => {
  await adapter.close();
  await fake.close();
});

function connectionWith(more: Partial<Connection> = {}): Connection {
  return {
    id: 'connection', publicId: 'processor_stg_1', kind: 'stripe', settings: { api_base: fake.url }, deadlines: { connectMs: 1_000, totalMs: 2_000 },
    credentials: { secret_key: fakeKey, webhook_secret: fakeWebhookSecret }, ...more,
  };
}

async function methodOf(behaviour: string): Promise<string> {
  const reference = `t${(calls += 1)}`;
  const made = await adapter.tokenise(connectionWith(), { reference, idempotencyKey: reference, source: { token: `tok_${behaviour}` } });
  expect(made).toMatchObject({ outcomeClass: 'approved', card: { last4: '4242', iin: null } });
  return made.theirPaymentMethodId!;
}

async function callOf(behaviour: string, more: Partial<AuthorizeCall> = {}): Promise<AuthorizeCall> {
  const reference = `pi_stg_${(calls += 1)}-1`;
  const call: AuthorizeCall = {
    reference, idempotencyKey: reference, amountAtom: 1_000, currency: 'eur', capture: 'automatic', offSession: false, returnUrl: 'https://shop.example/back',
    theirPaymentMethodId: await methodOf(behaviour), metadata: { payment_intent: 'pi_stg_1' }, ...more,
  };
  return call;
}

/** Both steps, as the payment's step does them. */
async function charge(call: AuthorizeCall, connection = connectionWith()) {
  const prepared = await adapter.prepare!(connection, call);
  if (prepared.outcomeClass !== 'approved') return { prepared, confirmed: prepared };
  return { prepared, confirmed: await adapter.authorize(connection, { ...call, processorPaymentId: prepared.processorPaymentId }) };
}

const moneyOf = (reference: string) => fake.intentOf(reference).filter((intent) => intent.amount_received > 0);

describe('what a charge answers', () => {
  it.each<[string, OutcomeClass, object]>([
    ['visa', 'approved', { approvedAmountAtom: 1_000, capturedAmountAtom: 1_000, networkTransactionId: expect.stringMatching(/^ntid/) }],
    ['do_not_honor', 'soft_decline', { declineCode: 'do_not_honor', rawCode: 'do_not_honor', retryAdvice: 'later' }],
    ['insufficient_funds', 'insufficient_funds', { declineCode: 'insufficient_funds', retryAdvice: 'later', networkAdviceCode: '51' }],
    ['lost_card', 'hard_decline', { declineCode: 'lost_card', retryAdvice: 'never', networkAdviceCode: '41' }],
    ['never_again', 'soft_decline', { declineCode: 'do_not_honor', retryAdvice: 'never', networkAdviceCode: '03' }],
    ['fraudulent', 'risk_refused', { declineCode: 'suspected_fraud' }],
    ['blocked_by_radar', 'risk_refused', { declineCode: 'suspected_fraud', rawCode: 'generic_decline' }],
    ['blocked_by_rule', 'risk_refused', { declineCode: 'blocked_by_merchant' }],
    ['processing_error', 'processor_error', { declineCode: 'processing_error' }],
    ['unheard_of', 'soft_decline', { declineCode: 'generic_decline', rawCode: 'made_up_by_the_fake', retryAdvice: null }],
    ['challenge', 'action_required', { redirectUrl: expect.stringContaining('hooks.stripe.example') }],
    ['processing', 'pending', {}],
    ['partial', 'partial_approval', { approvedAmountAtom: 500 }],
  ])('%s: %s', async (behaviour, outcomeClass, more) => {
    const call = await callOf(behaviour);
    const { confirmed } = await charge(call);
    expect(confirmed).toMatchObject({ outcomeClass, processorPaymentId: expect.stringMatching(/^pi_/), ...more });
    const found = await adapter.lookup(connectionWith(), { operation: 'authorize', ...call, processorPaymentId: confirmed.processorPaymentId });
    expect(found).toMatchObject({ found: 'yes', outcome: { outcomeClass, ...more } });
  });

  it('takes no money before it is confirmed, and carries what Stripe needs to know of the method', async () => {
    const call = await callOf('visa');
    const prepared = await adapter.prepare!(connectionWith(), call);
    expect(moneyOf(call.reference)).toHaveLength(0);
    const [intent] = fake.intentOf(call.reference);
    expect(intent).toMatchObject({
      id: prepared.processorPaymentId, status: 'requires_confirmation', setup_future_usage: 'off_session', customer: expect.stringMatching(/^cus_/),
      metadata: { signalbox_reference: call.reference, signalbox_payment_intent: 'pi_stg_1' },
    });
    expect(await adapter.prepare!(connectionWith(), call)).toEqual(prepared);
    expect(fake.intentOf(call.reference)).toHaveLength(1);
  });

  it('without the customer asks Stripe to say no instead of a challenge, and so it does without an address to return to', async () => {
    const absent = await charge(await callOf('wants_customer', { offSession: true }));
    expect(absent.confirmed).toMatchObject({ outcomeClass: 'authentication_required', declineCode: 'authentication_required' });
    expect((await charge(await callOf('wants_customer'))).confirmed.outcomeClass).toBe('approved');
    expect((await charge(await callOf('challenge', { returnUrl: null }))).confirmed.outcomeClass).toBe('authentication_required');
    const own = connectionWith({ settings: { api_base: fake.url, return_url: 'https://shop.example/other' } });
    expect((await charge(await callOf('challenge', { returnUrl: null }), own)).confirmed.outcomeClass).toBe('action_required');
  });

  it('counts Ugandan shillings as Stripe does, in hundredths that do not exist', async () => {
    const call = await callOf('visa', { currency: 'ugx', amountAtom: 5_000, capture: 'manual' });
    const { prepared, confirmed } = await charge(call);
    expect(confirmed).toMatchObject({ outcomeClass: 'approved', approvedAmountAtom: 5_000 });
    const processorPaymentId = prepared.processorPaymentId!;
    const sum = { processorPaymentId, amountAtom: 4_000, currency: 'ugx' };
    expect(await adapter.capture(connectionWith(), { ...sum, reference: `${call.reference}-c`, idempotencyKey: `${call.reference}-c` })).toMatchObject({ outcomeClass: 'approved' });
    const refund = { ...sum, amountAtom: 1_000, reference: `${call.reference}-r`, idempotencyKey: `${call.reference}-r` };
    expect(await adapter.refund(connectionWith(), refund)).toMatchObject({ outcomeClass: 'approved', approvedAmountAtom: 1_000 });
    expect(fake.intentOf(call.reference)).toMatchObject([{ amount: 500_000, amount_received: 400_000 }]);
    const found = await adapter.lookup(connectionWith(), { operation: 'authorize', ...call, processorPaymentId });
    expect(found).toMatchObject({ found: 'yes', outcome: { outcomeClass: 'approved' }, totals: { authorizedAmountAtom: 5_000, capturedAmountAtom: 4_000, refundedAmountAtom: 1_000 } });
  });

  it('differs from what was asked: mismatch', async () => {
    const call = await callOf('visa');
    await adapter.prepare!(connectionWith(), call);
    const [intent] = fake.intentOf(call.reference);
    intent!.amount = 1_001;
    expect(await adapter.authorize(connectionWith(), { ...call, processorPaymentId: intent!.id })).toMatchObject({ outcomeClass: 'mismatch' });
  });
});

describe('what faults mean', () => {
  const confirming = /^POST .*\/confirm$/;

  it.each<[Fault, OutcomeClass, string | null, number]>([
    ['drop_before', 'unknown', null, 0],
    ['drop_after', 'unknown', null, 1],
    ['error_before', 'unknown', null, 0],
    ['error_after', 'unknown', null, 1],
    ['hang_after', 'unknown', null, 1],
    ['not_json', 'unknown', null, 1],
    ['html', 'unknown', null, 1],
    ['locked', 'unknown', null, 0],
    ['rate_limited', 'processor_error', 'processor_rate_limited', 0],
  ])('%s while confirming: %s, sent exactly once', async (fault, outcomeClass, declineCode, charges) => {
    const call = await callOf('visa');
    const before = fake.requests(confirming).length;
    fake.plan(confirming, fault);
    const { confirmed } = await charge(call, connectionWith({ deadlines: { connectMs: 1_000, totalMs: 400 } }));
    expect({ class: confirmed.outcomeClass, code: confirmed.declineCode ?? null }).toEqual({ class: outcomeClass, code: declineCode });
    expect(fake.requests(confirming)).toHaveLength(before + 1);
    expect(moneyOf(call.reference)).toHaveLength(charges);
  });

  it('no byte was written: not_sent', async () => {
    const gone = await StripeFake.open();
    const nowhere = connectionWith({ id: 'nowhere', settings: { api_base: gone.url } });
    await gone.close();
    const call = { ...(await callOf('visa')), processorPaymentId: 'pi_1' };
    expect(await adapter.authorize(nowhere, call)).toMatchObject({ outcomeClass: 'not_sent', declineCode: 'connection_failed' });
    expect(await adapter.prepare!(nowhere, call)).toMatchObject({ outcomeClass: 'not_sent' });
  });

  it('a key that Stripe refuses, and a payment method that it does not know: nothing was created', async () => {
    const wrong = connectionWith({ id: 'wrong', credentials: { secret_key: 'sk_test_other' } });
    const refused = await adapter.prepare!(wrong, await callOf('visa'));
    expect(refused).toMatchObject({ outcomeClass: 'processor_error', declineCode: 'misconfigured', rawMessage: 'Stripe refuses the secret key.' });
    expect(await adapter.check(wrong)).toMatchObject({ ok: false, detail: 'Stripe refuses the secret key.' });
    expect(await adapter.check(connectionWith())).toMatchObject({ ok: true, detail: expect.stringContaining('test mode') });
    const unknown = await callOf('visa', { theirPaymentMethodId: 'pm_gone' });
    expect(await adapter.prepare!(connectionWith(), unknown)).toMatchObject({ outcomeClass: 'processor_error', declineCode: 'payment_method_unknown' });
  });

  it('one key with other parameters is unknown, never a refusal', async () => {
    const call = await callOf('visa');
    await adapter.prepare!(connectionWith(), call);
    expect((await adapter.prepare!(connectionWith(), { ...call, amountAtom: 2_000 })).outcomeClass).toBe('unknown');
  });

  it('a repeated confirmation answers the first result; confirmed under another key it tells what it finds', async () => {
    const call = await callOf('visa');
    const { confirmed, prepared } = await charge(call);
    const again = { ...call, processorPaymentId: prepared.processorPaymentId };
    expect(await adapter.authorize(connectionWith(), again)).toEqual(confirmed);
    expect(await adapter.authorize(connectionWith(), { ...again, idempotencyKey: 'other' })).toMatchObject({ outcomeClass: 'approved' });
    expect(moneyOf(call.reference)).toHaveLength(1);
  });
});

describe('later', () => {
  async function held(amount = 1_000) {
    const call = await callOf('visa', { capture: 'manual', amountAtom: amount });
    const { prepared, confirmed } = await charge(call);
    expect(confirmed).toMatchObject({ outcomeClass: 'approved', approvedAmountAtom: amount, capturedAmountAtom: 0 });
    return { call, id: prepared.processorPaymentId! };
  }
  const operation = (name: string, reference: string) => ({ reference: `${reference}-${name}`, idempotencyKey: `${reference}-${name}` });

  it('a part is captured once, and looked up', async () => {
    const { call, id } = await held();
    const capture = { ...operation('capture-1', call.reference), processorPaymentId: id, amountAtom: 700, currency: 'eur' };
    const lookup = { operation: 'capture', reference: capture.reference, processorPaymentId: id, amountAtom: 700 } as const;
    expect(await adapter.lookup(connectionWith(), lookup)).toEqual({ found: 'absent' });
    expect(await adapter.capture(connectionWith(), capture)).toMatchObject({ outcomeClass: 'approved', approvedAmountAtom: 700 });
    expect(await adapter.capture(connectionWith(), { ...capture, idempotencyKey: 'another-capture' })).toMatchObject({ outcomeClass: 'approved' });
    expect(await adapter.lookup(connectionWith(), lookup)).toMatchObject({ found: 'yes', outcome: { outcomeClass: 'approved' }, totals: { capturedAmountAtom: 700 } });
    expect(await adapter.lookup(connectionWith(), { ...lookup, amountAtom: 900 })).toMatchObject({ outcome: { outcomeClass: 'mismatch' } });
    const after = await adapter.void(connectionWith(), { ...operation('void-1', call.reference), processorPaymentId: id, paymentReference: call.reference });
    expect(after).toMatchObject({ outcomeClass: 'processor_error' });
  });

  it('a cancel is confirmed, also a second time under another key', async () => {
    const { call, id } = await held();
    const cancel = { ...operation('void-1', call.reference), processorPaymentId: id, paymentReference: call.reference };
    expect(await adapter.void(connectionWith(), cancel)).toMatchObject({ outcomeClass: 'approved' });
    expect(await adapter.void(connectionWith(), { ...cancel, idempotencyKey: 'another-cancel' })).toMatchObject({ outcomeClass: 'approved' });
    const found = await adapter.lookup(connectionWith(), { operation: 'authorize', reference: call.reference, processorPaymentId: id });
    expect(found).toMatchObject({ found: 'yes', totals: { voided: true, authorizedAmountAtom: 0 } });
    expect(await adapter.void(connectionWith(), { ...cancel, processorPaymentId: null })).toMatchObject({ outcomeClass: 'unknown' });
  });

  it('a refund is found by its reference among the payment\'s refunds', async () => {
    const call = await callOf('refund_pending');
    const { prepared } = await charge(call);
    const refund = { ...operation('refund-1', call.reference), processorPaymentId: prepared.processorPaymentId!, amountAtom: 300, currency: 'eur' };
    const lookup = { operation: 'refund', reference: refund.reference, processorPaymentId: refund.processorPaymentId, amountAtom: 300, currency: 'eur' } as const;
    expect(await adapter.lookup(connectionWith(), lookup)).toEqual({ found: 'absent' });
    const accepted = await adapter.refund(connectionWith(), refund);
    expect(accepted).toMatchObject({ outcomeClass: 'pending', processorOperationId: expect.stringMatching(/^re_/) });
    expect(await adapter.lookup(connectionWith(), lookup)).toMatchObject({ found: 'yes', outcome: { outcomeClass: 'pending' } });
    fake.book.settleRefund(accepted.processorOperationId!, 'failed');
    expect(await adapter.lookup(connectionWith(), lookup)).toMatchObject({ outcome: { outcomeClass: 'soft_decline', declineCode: 'lost_card' } });
    const tooMuch = { ...refund, ...operation('refund-2', call.reference), amountAtom: 5_000 };
    expect(await adapter.refund(connectionWith(), tooMuch)).toMatchObject({ outcomeClass: 'processor_error', rawCode: 'charge_already_refunded' });
  });

  it('a lookup never says absent without the payment\'s id, nor when it cannot read', async () => {
    const { call, id } = await held();
    const lookup = { operation: 'authorize', reference: call.reference, amountAtom: 1_000, currency: 'eur' } as const;
    expect(await adapter.lookup(connectionWith(), lookup)).toMatchObject({ found: 'unknown' });
    expect(await adapter.lookup(connectionWith(), { ...lookup, processorPaymentId: 'pi_of_another_account' })).toMatchObject({ found: 'unknown' });
    fake.plan(/^GET .*payment_intents\/pi_/, 'error_before');
    expect(await adapter.lookup(connectionWith(), { ...lookup, processorPaymentId: id })).toMatchObject({ found: 'unknown' });
    expect(await adapter.lookup(connectionWith(), { ...lookup, processorPaymentId: id })).toMatchObject({ found: 'yes', outcome: { outcomeClass: 'approved' } });
  });

  it('every payment of a time is listed, page by page, with its refunds and disputes', async () => {
    const since = new Date(Date.now() - 1_000).toISOString();
    const paid = await charge(await callOf('visa'));
    const id = paid.prepared.processorPaymentId!;
    fake.book.refund({ payment_intent: id, amount: 250, metadata: {} } as never);
    fake.book.dispute(id, 'fraudulent');
    const { call: partly, id: partial } = await held();
    await adapter.capture(connectionWith(), { ...operation('capture-1', partly.reference), processorPaymentId: partial, amountAtom: 600, currency: 'eur' });
    for (let n = 0; n < 60; n += 1) await adapter.prepare!(connectionWith(), await callOf('visa'));
    const listed = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const answer = await adapter.list!(connectionWith(), { since, until: new Date(Date.now() + 60_000).toISOString(), cursor });
      if (!answer.ok) throw new Error(answer.unavailable);
      listed.push(...answer.payments);
      cursor = answer.nextCursor;
      pages += 1;
    } while (cursor);
    expect(pages).toBeGreaterThan(1);
    expect(new Set(listed.map((each) => each.processorPaymentId)).size).toBe(listed.length);
    expect(listed.find((each) => each.processorPaymentId === id)).toMatchObject({
      amountAtom: 1_000, outcome: { outcomeClass: 'approved' }, totals: { capturedAmountAtom: 1_000, refundedAmountAtom: 250, disputed: true },
      refunds: [{ amountAtom: 250, reference: null, status: 'succeeded' }], disputes: [{ status: 'open', reason: 'fraudulent', amountAtom: 1_000 }],
    });
    expect(listed.find((each) => each.processorPaymentId === partial)).toMatchObject({
      totals: { authorizedAmountAtom: 1_000, capturedAmountAtom: 600, refundedAmountAtom: 0, voided: false }, refunds: [],
    });
    const broken = connectionWith({ id: 'wrong', credentials: { secret_key: 'sk_test_other' } });
    expect(await adapter.list!(broken, { since, until: since, cursor: null })).toMatchObject({ ok: false });
  });
});

describe('a payment method', () => {
  const identity = (name: string) => ({ reference: name, idempotencyKey: name, amountAtom: 0, currency: 'eur' });

  it('is set up for charges without the customer; one that the issuer refuses is refused', async () => {
    const theirPaymentMethodId = await methodOf('visa');
    const verified = await adapter.verify(connectionWith(), { ...identity('verify-visa'), theirPaymentMethodId });
    expect(verified).toMatchObject({ outcomeClass: 'approved', networkTransactionId: theirPaymentMethodId });
    const stolen = await methodOf('refused_at_setup');
    expect(await adapter.verify(connectionWith(), { ...identity('verify-stolen'), theirPaymentMethodId: stolen })).toMatchObject({ declineCode: 'stolen_card' });
  });

  it('whose issuer wants to see the customer is good for charges with the customer, and for others once the browser set it up', async () => {
    const theirPaymentMethodId = await methodOf('challenge');
    const first = await adapter.verify(connectionWith(), { ...identity('verify-challenge'), theirPaymentMethodId });
    expect(first).toEqual({ outcomeClass: 'approved', processorPaymentId: expect.stringMatching(/^seti_/) });
    fake.book.all('setup_intent').find((setup) => setup.payment_method === theirPaymentMethodId)!.status = 'succeeded';
    const later = await adapter.verify(connectionWith(), { ...identity('verify-challenge-2'), theirPaymentMethodId });
    expect(later).toMatchObject({ outcomeClass: 'approved', networkTransactionId: theirPaymentMethodId });
  });

  it('that wants a mandate is taken if the browser has set it up', async () => {
    const theirPaymentMethodId = await methodOf('wants_mandate');
    const asked = { ...identity('verify-mandate'), theirPaymentMethodId };
    expect(await adapter.verify(connectionWith(), asked)).toMatchObject({ outcomeClass: 'processor_error' });
    fake.book.things.set('seti_browser', { id: 'seti_browser', object: 'setup_intent', status: 'succeeded', usage: 'off_session', payment_method: theirPaymentMethodId });
    expect(await adapter.verify(connectionWith(), asked)).toMatchObject({ outcomeClass: 'approved', networkTransactionId: theirPaymentMethodId });
  });

  it('made in the browser keeps its customer; the same call makes nothing twice; card numbers are not taken', async () => {
    const made = fake.book.method('tok_visa').id;
    const call = { reference: 'browser', idempotencyKey: 'browser', source: { token: made } };
    expect(await adapter.tokenise(connectionWith(), call)).toMatchObject({ theirPaymentMethodId: made });
    const customers = fake.book.all('customer').length;
    expect(await adapter.tokenise(connectionWith(), call)).toMatchObject({ theirPaymentMethodId: made });
    expect(fake.book.all('customer')).toHaveLength(customers);
    const card = { number: '4242424242424242', expMonth: 1, expYear: 2040, cvc: '123' };
    const before = fake.asked.length;
    expect(await adapter.tokenise(connectionWith(), { ...call, source: { card } })).toMatchObject({ outcomeClass: 'processor_error' });
    expect(await adapter.tokenise(connectionWith(), { ...call, source: { token: '../v1/balance' } })).toMatchObject({ outcomeClass: 'processor_error' });
    expect(fake.asked).toHaveLength(before);
  });
});

describe('the tables', () => {
  it('agree with the one outcome class of each normalised code and name a source', () => {
    for (const table of [stripeDeclines, stripeRefusals, stripeRefundFailures]) {
      for (const row of table.values()) {
        expect(row.outcomeClass).toBe(declineClasses[row.declineCode]);
        expect(row.source).toMatch(/^docs\.stripe\.com\//);
      }
    }
  });
});
