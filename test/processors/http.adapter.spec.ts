import { declineRows, refusalRows } from '../../libs/processors/http/http-refusal.js';
import { createHttpAdapter } from '../../libs/processors/http/http.adapter.js';
import { sign, signatureHeader } from '../../libs/processors/http/http.signature.js';
import type { ProcessorAdapter } from '../../libs/processors/port.js';
import { asked, operationLike, paymentLike, SignedPeer, type Scripted } from './signed-peer.js';

let peer: SignedPeer;
let adapter: ProcessorAdapter;

beforeAll(async () => {
  peer = await new SignedPeer().open();
  adapter = createHttpAdapter({ allowLoopback: true });
});
afterAll(async () => {
  await adapter.close();
  await peer.close();
});

async function authorized(answer: Scripted) {
  peer.next = answer;
  return adapter.authorize(peer.connection(), asked);
}

const refusal = (code: string, more: object = {}) => ({ error: { code, message: 'no', ...more } });

describe('what a provider answers to a payment', () => {
  it.each<[answer: string, scripted: Scripted, outcomeClass: string]>([
    ['a captured payment', { body: paymentLike() }, 'approved'],
    ['the same with 200', { status: 200, body: paymentLike() }, 'approved'],
    ['a held payment', { body: paymentLike({ status: 'authorized', amount_captured: 0 }) }, 'approved'],
    ['a pending payment', { body: paymentLike({ status: 'pending', amount_authorized: 0, amount_captured: 0 }) }, 'pending'],
    ['a challenge', { body: paymentLike({ status: 'requires_action', amount_authorized: 0, amount_captured: 0, redirect_url: 'https://x.example/' }) }, 'action_required'],
    ['a part of the amount', { body: paymentLike({ amount_authorized: 1_000, amount_captured: 1_000 }) }, 'partial_approval'],
    ['a payment that was voided there', { body: paymentLike({ status: 'voided', amount_captured: 0 }) }, 'processor_error'],
    ['another amount', { body: paymentLike({ amount: 2_600 }) }, 'mismatch'],
    ['more than was asked', { body: paymentLike({ amount_authorized: 2_600 }) }, 'mismatch'],
    ['another currency', { body: paymentLike({ currency: 'usd' }) }, 'mismatch'],
    ['another reference', { body: paymentLike({ reference: 'ref-2' }) }, 'mismatch'],
    ['a decline that no table lists', { status: 402, body: refusal('card_is_pink') }, 'soft_decline'],
    ['a decline with a captured payment inside', { status: 402, body: { ...refusal('do_not_honor'), payment: paymentLike() } }, 'unknown'],
    ['a decline\'s code under another status', { status: 422, body: refusal('do_not_honor') }, 'unknown'],
    ['a refusal\'s code as a decline', { status: 402, body: refusal('rate_limited') }, 'soft_decline'],
    ['a refusal that no table lists', { status: 422, body: refusal('moon_is_full') }, 'unknown'],
    ['408', { status: 408, body: refusal('processing_error') }, 'unknown'],
    ['409', { status: 409, body: refusal('reference_taken') }, 'unknown'],
    ['425', { status: 425, body: refusal('processing_error') }, 'unknown'],
    ['499', { status: 499, body: refusal('processing_error') }, 'unknown'],
    ['500', { status: 500, body: refusal('processing_error') }, 'unknown'],
    ['502 with a page', { status: 502, body: '<html>Bad gateway' }, 'unknown'],
    ['503 with a refusal', { status: 503, body: refusal('rate_limited') }, 'unknown'],
    ['a redirect', { status: 307, body: '' }, 'unknown'],
    ['nothing', { status: 204 }, 'unknown'],
    ['something that is not JSON', { body: 'paid!' }, 'unknown'],
    ['JSON of another shape', { body: { ok: true } }, 'unknown'],
    ['an amount that is no integer', { body: paymentLike({ amount: 25.5 }) }, 'unknown'],
    ['an approval without signature', { body: paymentLike(), signature: 'none' }, 'unknown'],
    ['an approval signed by somebody else', { body: paymentLike(), signature: 'other secret' }, 'unknown'],
    ['the answer to another request', { body: paymentLike(), signature: 'of another request' }, 'unknown'],
    ['an answer whose status was changed', { body: paymentLike(), signature: 'of another status' }, 'unknown'],
    ['an answer of ten minutes ago', { body: paymentLike(), signature: 'ten minutes old' }, 'unknown'],
    ['a refusal without signature', { status: 422, body: refusal('processing_error'), signature: 'none' }, 'unknown'],
    ['a decline without signature', { status: 402, body: refusal('lost_card'), signature: 'none' }, 'unknown'],
    ['a challenge at an address that is none', { body: paymentLike({ status: 'requires_action', redirect_url: 'javascript:alert(1)' }) }, 'unknown'],
    ['a reset', { instead: 'reset' }, 'unknown'],
    ['half an answer', { body: paymentLike(), instead: 'half' }, 'unknown'],
  ])('%s is read as such', async (_answer, scripted, outcomeClass) => {
    expect((await authorized(scripted)).outcomeClass).toBe(outcomeClass);
  });

  it.each(declineRows.map((row) => [row.code, row] as const))('the decline %s is its class and code', async (code, row) => {
    const body = { ...refusal(code, { raw_code: '51' }), payment: paymentLike({ status: 'declined', amount_authorized: 0, amount_captured: 0 }) };
    const outcome = await authorized({ status: 402, body });
    expect(outcome).toMatchObject({ outcomeClass: row.outcomeClass, declineCode: code, rawCode: '51', rawMessage: 'no', processorPaymentId: 'pay_1' });
  });

  it.each(refusalRows.map((row) => [row.status, row.code, row] as const))('the refusal %d %s means that nothing was created', async (status, code, row) => {
    expect(await authorized({ status, body: refusal(code) })).toMatchObject({ outcomeClass: 'processor_error', declineCode: row.declineCode, rawCode: code });
    expect((await authorized({ status: 400, body: refusal(code) })).outcomeClass).toBe('unknown');
  });

  it.each([
    [{ brand: 'mastercard', advice_code: '03' }, 'never', '03'],
    [{ brand: 'mastercard', advice_code: '21' }, 'never', '21'],
    [{ brand: 'mastercard', advice_code: '24' }, 'later', '24'],
    [{ brand: 'mastercard', advice_code: '30' }, 'later', '30'],
    [{ brand: 'visa', response_code: '14' }, 'never', '14'],
    [{ brand: 'visa', response_code: '51' }, 'later', '51'],
    [{ brand: 'visa', response_code: '05' }, null, null],
  ])('what the card scheme says is kept: %j is %s', async (network, retryAdvice, networkAdviceCode) => {
    expect(await authorized({ status: 402, body: refusal('do_not_honor', { network }) })).toMatchObject({ retryAdvice, networkAdviceCode });
  });

  it('a card number in its words is not kept', async () => {
    const outcome = await authorized({ status: 402, body: { error: { code: 'do_not_honor', message: 'card 4242 4242 4242 4242 of 2030-01 refused' } } });
    expect(outcome.rawMessage).toBe('card … of 2030-01 refused');
  });

  it('no answer at all is unknown at the deadline, a closed port is not_sent', async () => {
    peer.next = { instead: 'hang' };
    const impatient = peer.connection({ deadlines: { connectMs: 1_000, totalMs: 100 } });
    expect(await adapter.authorize(impatient, asked)).toMatchObject({ outcomeClass: 'unknown', rawMessage: expect.stringContaining('100 ms') });
    const closed = peer.connection({ settings: { base_url: 'http://127.0.0.1:1' } });
    expect(await adapter.authorize(closed, asked)).toMatchObject({ outcomeClass: 'not_sent', declineCode: 'connection_failed' });
  });

  it.each([
    ['no secret', { credentials: null }],
    ['no address', { settings: {} }],
    ['plain http elsewhere', { settings: { base_url: 'http://pay.example' } }],
  ])('a connection with %s sends nothing', async (_what, more) => {
    const before = peer.requests.length;
    expect((await adapter.authorize(peer.connection(more), asked)).outcomeClass).toBe('not_sent');
    expect(peer.requests).toHaveLength(before);
  });

  it('loopback is refused where the policy does not allow it, whatever was stored', async () => {
    const strict = createHttpAdapter({ allowLoopback: false });
    expect((await strict.authorize(peer.connection(), asked)).outcomeClass).toBe('not_sent');
    await strict.close();
  });

  it('the same call is the same request, below the base address, and its secret is in none of it', async () => {
    await authorized({ body: paymentLike() });
    await authorized({ body: paymentLike() });
    const [first, second] = peer.requests.slice(-2);
    expect([first!.method, first!.url, first!.body, first!.headers['idempotency-key']]).toEqual(['POST', '/below/here/payments', second!.body, 'key-1']);
    expect(second!.headers['idempotency-key']).toBe('key-1');
    expect(JSON.stringify(first)).not.toContain(peer.secret);
  });
});

describe('captures, voids and refunds', () => {
  const part = { reference: 'ref-r', idempotencyKey: 'ref-r', processorPaymentId: 'pay/1', amountAtom: 500, currency: 'eur' };
  const declined = { code: 'insufficient_funds' };

  it.each<[answer: string, scripted: Scripted, outcomeClass: string]>([
    ['done', { body: operationLike() }, 'approved'],
    ['accepted', { body: operationLike({ status: 'pending' }) }, 'pending'],
    ['failed', { body: operationLike({ status: 'failed', decline: declined }) }, 'insufficient_funds'],
    ['failed without a reason', { body: operationLike({ status: 'failed' }) }, 'soft_decline'],
    ['another amount', { body: operationLike({ amount: 501 }) }, 'mismatch'],
    ['another reference', { body: operationLike({ reference: 'ref-x' }) }, 'mismatch'],
    ['refused', { status: 422, body: refusal('not_refundable') }, 'processor_error'],
    ['declined', { status: 402, body: refusal('insufficient_funds') }, 'insufficient_funds'],
    ['unsigned', { body: operationLike(), signature: 'none' }, 'unknown'],
    ['500', { status: 500, body: refusal('processing_error') }, 'unknown'],
    ['a payment instead', { body: paymentLike() }, 'unknown'],
  ])('%s is read as such', async (_answer, scripted, outcomeClass) => {
    peer.next = scripted;
    expect((await adapter.refund(peer.connection(), part)).outcomeClass).toBe(outcomeClass);
  });

  it('go to their paths, with the id as one part of it', async () => {
    peer.next = { body: operationLike() };
    await adapter.capture(peer.connection(), part);
    await adapter.refund(peer.connection(), part);
    await adapter.void(peer.connection(), { reference: 'v', idempotencyKey: 'v', paymentReference: 'ref-1' });
    expect(peer.requests.slice(-3).map(({ url }) => url)).toEqual(['/payments/pay%2F1/captures', '/payments/pay%2F1/refunds', '/voids'].map((path) => `/below/here${path}`));
    expect(JSON.parse(peer.requests.at(-1)!.body)).toEqual({ reference: 'v', payment: null, payment_reference: 'ref-1' });
  });
});

describe('look-ups and lists', () => {
  it.each<[answer: string, scripted: Scripted, expected: object]>([
    ['a payment', { status: 200, body: { data: [paymentLike()] } }, { found: 'yes', outcome: { outcomeClass: 'approved' } }],
    ['a declined one', { status: 200, body: { data: [paymentLike({ status: 'declined', decline: { code: 'lost_card' } })] } }, { found: 'yes', outcome: { outcomeClass: 'hard_decline' } }],
    ['two that hold money', { status: 200, body: { data: [paymentLike(), paymentLike({ id: 'pay_2' })] } }, { found: 'yes', outcome: { outcomeClass: 'mismatch' } }],
    ['none', { status: 200, body: { data: [] } }, { found: 'absent' }],
    ['404', { status: 404, body: refusal('unknown_payment') }, { found: 'unknown' }],
    ['500', { status: 500, body: refusal('processing_error') }, { found: 'unknown' }],
    ['none, unsigned', { status: 200, body: { data: [] }, signature: 'none' }, { found: 'unknown' }],
    ['none, to somebody else', { status: 200, body: { data: [] }, signature: 'of another request' }, { found: 'unknown' }],
  ])('%s is read as such', async (_answer, scripted, expected) => {
    peer.next = scripted;
    expect(await adapter.lookup(peer.connection(), { operation: 'authorize', ...asked })).toMatchObject(expected);
  });

  it('operations are found by kind and compared; a pending one is pending', async () => {
    const call = { operation: 'refund' as const, reference: 'ref-r', amountAtom: 500, currency: 'eur' };
    peer.next = { status: 200, body: { data: [operationLike({ status: 'pending' })] } };
    expect(await adapter.lookup(peer.connection(), call)).toMatchObject({ found: 'yes', outcome: { outcomeClass: 'pending', processorOperationId: 'op_1' } });
    expect(peer.requests.at(-1)!.url).toBe('/below/here/operations?reference=ref-r&kind=refund');
    peer.next = { status: 200, body: { data: [operationLike({ amount: 400 })] } };
    expect(await adapter.lookup(peer.connection(), call)).toMatchObject({ outcome: { outcomeClass: 'mismatch' } });
  });

  it('are not asked where the connection says that there are none', async () => {
    const before = peer.requests.length;
    const mute = peer.connection({ settings: { base_url: peer.url, lookup: 'none' } });
    expect(await adapter.lookup(mute, { operation: 'authorize', ...asked })).toMatchObject({ found: 'unknown' });
    expect(peer.requests).toHaveLength(before);
  });

  it('a list tells refunds and disputes, and its next page', async () => {
    const disputes = [{ id: 'dp_1', reason: 'fraud', amount: 2_500, status: 'open' }];
    const refunds = [{ id: 'op_9', reference: null, amount: 300, status: 'succeeded' }];
    peer.next = { status: 200, body: { data: [paymentLike({ refunds, disputes, amount_refunded: 300 })], next_cursor: 'pay_1' } };
    const range = { since: '2030-01-01T00:00:00Z', until: '2030-01-02T00:00:00Z', cursor: null };
    expect(await adapter.list!(peer.connection(), range)).toMatchObject({
      ok: true,
      nextCursor: 'pay_1',
      payments: [{
        reference: 'ref-1', processorPaymentId: 'pay_1', amountAtom: 2_500, outcome: { outcomeClass: 'approved' }, createdAt: '2030-01-01T00:00:00.000Z',
        totals: { capturedAmountAtom: 2_500, refundedAmountAtom: 300, disputed: true },
        refunds: [{ processorRefundId: 'op_9', reference: null, amountAtom: 300, status: 'succeeded' }],
        disputes: [{ processorDisputeId: 'dp_1', reason: 'fraud', amountAtom: 2_500, status: 'open' }],
      }],
    });
    peer.next = { status: 500, body: '' };
    expect(await adapter.list!(peer.connection(), range)).toMatchObject({ ok: false });
  });

  it('the connection\'s settings weaken what the contract promises', () => {
    const promised = (settings: object) => adapter.capabilities(peer.connection({ settings: { base_url: peer.url, ...settings } }));
    expect(promised({})).toEqual({ idempotencyWindowMs: 86_400_000, lookup: 'strong', settleAfterMs: 600_000, list: false });
    expect(promised({ idempotency_window_ms: null, lookup: 'eventual', settle_after_ms: 0, list: true })).toEqual({
      idempotencyWindowMs: null, lookup: 'eventual', settleAfterMs: 0, list: true,
    });
  });
});

describe('callbacks', () => {
  const event = { id: 'ev_1', type: 'payment.updated', created_at: '2030-01-01T00:00:00Z', payment: paymentLike() };
  const now = Date.parse('2030-01-01T00:00:00Z');
  const letter = (body: string, secret: string, at = now) => ({
    headers: { [signatureHeader]: sign(secret, { kind: 'callback', body }, at / 1000) }, body: Buffer.from(body), receivedAt: now,
  });

  it('are accepted with the shared secret, and with the one before while it counts', () => {
    const body = JSON.stringify(event);
    const told = { kind: 'accepted', eventId: 'ev_1', eventType: 'payment.updated', payment: { reference: 'ref-1', outcome: { outcomeClass: 'approved' } } };
    expect(adapter.parseCallback(peer.connection(), letter(body, peer.secret))).toMatchObject(told);
    const rotated = peer.connection({ credentials: { secret: 'n'.repeat(40), previous_secret: peer.secret } });
    expect(adapter.parseCallback(rotated, letter(body, peer.secret))).toMatchObject(told);
    expect(adapter.parseCallback(rotated, letter(body, 'n'.repeat(40)))).toMatchObject(told);
    expect(adapter.parseCallback(peer.connection(), letter(JSON.stringify({ ...event, payment: null }), peer.secret))).toMatchObject({ payment: null });
  });

  it.each([
    ['no signature', () => ({ ...letter('{}', peer.secret), headers: {} })],
    ['another secret', () => letter(JSON.stringify(event), 'o'.repeat(40))],
    ['a changed body', () => ({ ...letter(JSON.stringify(event), peer.secret), body: Buffer.from(JSON.stringify(event).replace('2500', '9900')) })],
    ['an age of six minutes', () => letter(JSON.stringify(event), peer.secret, now - 360_000)],
    ['a time six minutes ahead', () => letter(JSON.stringify(event), peer.secret, now + 360_000)],
    ['another body than the contract\'s', () => letter('{"id":"ev_1"}', peer.secret)],
    ['no JSON', () => letter('<event/>', peer.secret)],
    ['the signature of an answer', () => ({
      ...letter('', peer.secret), body: Buffer.from(JSON.stringify(event)),
      headers: { [signatureHeader]: sign(peer.secret, { kind: 'answer', status: 200, request: '', body: JSON.stringify(event) }, now / 1000) },
    })],
  ])('with %s are refused', (_what, made) => {
    expect(adapter.parseCallback(peer.connection(), made()).kind).toBe('refused');
  });
});

describe('a payment method', () => {
  const card = { brand: 'visa', iin: '424242', last4: '4242', exp_month: 12, exp_year: 2040, funding: 'credit', country: 'DE', issuer: null, fingerprint: 'fp_1' };
  const made = async (more: object) => {
    peer.next = { body: { object: 'payment_method', id: 'pm_1', card: { ...card, ...more } } };
    return adapter.tokenise(peer.connection(), { reference: 't', idempotencyKey: 't', source: { token: 'tok' } });
  };

  it('is described in our words', async () => {
    const { exp_month: expMonth, exp_year: expYear, ...same } = card;
    expect(await made({})).toEqual({ outcomeClass: 'approved', theirPaymentMethodId: 'pm_1', card: { ...same, expMonth, expYear } });
    peer.next = { body: { object: 'payment_method', id: 'pm_1', card: null } };
    expect(await adapter.tokenise(peer.connection(), { reference: 't', idempotencyKey: 't', source: { token: 'tok' } })).toMatchObject({ outcomeClass: 'approved', card: null });
  });

  it.each([[{ last4: '4242424242424242' }], [{ iin: '4242424242424242' }], [{ fingerprint: '4242424242424242' }]])('that tells a card number (%j) is not taken', async (more) => {
    expect((await made(more)).outcomeClass).toBe('unknown');
  });

  it('is never made of a card number', async () => {
    const source = { card: { number: '4242424242424242', expMonth: 12, expYear: 2040, cvc: '123' } };
    expect(await adapter.tokenise(peer.connection(), { reference: 't', idempotencyKey: 't', source })).toMatchObject({ outcomeClass: 'processor_error' });
  });
});

describe('the check of a connection', () => {
  it.each<[answer: string, scripted: Scripted, ok: boolean, detail: string]>([
    ['the right answer', { status: 200, body: { object: 'check', contract: 1, name: 'Acme' } }, true, 'Acme answers, signed with our secret.'],
    ['another version', { status: 200, body: { object: 'check', contract: 2, name: 'Acme' } }, false, 'version 2'],
    ['another secret', { status: 200, body: { object: 'check', contract: 1, name: 'Acme' }, signature: 'other secret' }, false, 'unknown key'],
    ['no signature', { status: 401, body: refusal('invalid_signature'), signature: 'none' }, false, 'answered 401, but not to be believed'],
  ])('%s is told', async (_answer, scripted, ok, detail) => {
    peer.next = scripted;
    expect(await adapter.check(peer.connection())).toMatchObject({ ok, detail: expect.stringContaining(detail) });
  });
});
