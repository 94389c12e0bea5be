import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { OutcomeClass } from '../../libs/domain/payment/outcome.js';
import { createSimulatorAdapter } from '../../libs/processors/simulator/simulator.adapter.js';
import { isSimulatorOutcome, simulatorOutcomeNames, simulatorOutcomes } from '../../libs/processors/simulator/simulator-outcome.js';
import { testCards } from '../../libs/processors/simulator/test-card.js';
import { simulatorDeclines } from '../../libs/processors/simulator/simulator-decline.js';
import { eventually } from '../support/stack.js';
import { chargeOf, connectionWith, ledgerOf, runSimulator } from './running-simulator.js';

type Running = Awaited<ReturnType<typeof runSimulator>>;

describe('simulator adapter', () => {
  let sim: Running;
  let method: string;
  const connection = connectionWith();

  async function tokenise(number: string): Promise<string> {
    const card = { number, expMonth: 12, expYear: 2040, cvc: '123' };
    const made = await sim.adapter.tokenise(connection, { reference: number, idempotencyKey: `token_${number}`, source: { card } });
    expect(made.outcomeClass).toBe('approved');
    return made.theirPaymentMethodId!;
  }

  beforeAll(async () => {
    sim = await runSimulator();
    method = await tokenise('4242424242424242');
  });

  afterAll(async () => sim.close());

  const effects: [name: string, outcomeClass: OutcomeClass, declineCode: string | null, charges: number][] = [
    ['approved', 'approved', null, 1],
    ['do_not_honor', 'soft_decline', 'do_not_honor', 0],
    ['issuer_unavailable', 'soft_decline', 'issuer_unavailable', 0],
    ['velocity_exceeded', 'soft_decline', 'velocity_exceeded', 0],
    ['incorrect_cvc', 'soft_decline', 'incorrect_cvc', 0],
    ['insufficient_funds', 'insufficient_funds', 'insufficient_funds', 0],
    ['lost_card', 'hard_decline', 'lost_card', 0],
    ['stolen_card', 'hard_decline', 'stolen_card', 0],
    ['expired_card', 'hard_decline', 'expired_card', 0],
    ['authentication_required', 'authentication_required', 'authentication_required', 0],
    ['suspected_fraud', 'risk_refused', 'suspected_fraud', 0],
    ['challenge', 'action_required', null, 0],
    ['pending_then_approved', 'pending', null, 0],
    ['pending_then_declined', 'pending', null, 0],
    ['partial_approval', 'partial_approval', 'partial_approval', 1],
    ['processing_error', 'processor_error', 'processing_error', 0],
    ['misconfigured', 'processor_error', 'misconfigured', 0],
    ['rate_limited', 'processor_error', 'processor_rate_limited', 0],
    ['connection_refused', 'not_sent', 'connection_failed', 0],
    ['error_before_charge', 'unknown', null, 0],
    ['error_after_charge', 'unknown', null, 1],
    ['malformed_answer', 'unknown', null, 1],
    ['duplicate_callback', 'approved', null, 1],
    ['late_callback', 'pending', null, 0],
    ['reordered_callbacks', 'pending', null, 0],
    ['disputed', 'approved', null, 1],
    ['no_such_outcome', 'processor_error', 'misconfigured', 0],
  ];

  it.each(effects)('%s is %s (%s) and leaves %d charges in the ledger at that moment', async (simulate, outcomeClass, declineCode, charges) => {
    const call = chargeOf(method, { simulate });
    const outcome = await sim.adapter.authorize(connection, call);
    const { payments } = await ledgerOf(sim.url, call.reference);
    expect({ class: outcome.outcomeClass, code: outcome.declineCode ?? null }).toEqual({ class: outcomeClass, code: declineCode });
    if (isSimulatorOutcome(simulate)) expect(simulatorOutcomes[simulate].answers).toBe(outcomeClass);
    expect(payments.filter((payment) => payment.status === 'captured')).toHaveLength(charges);
  });

  it('every outcome is tried here', () => {
    const tried = new Set([...effects.map(([name]) => name), 'timeout_before_charge', 'timeout_after_charge', 'delay_5s']);
    expect(simulatorOutcomeNames.filter((name) => !tried.has(name))).toEqual([]);
  });

  it.each([
    ['timeout_before_charge', 0, 'absent'],
    ['timeout_after_charge', 1, 'yes'],
  ])('%s is unknown at the deadline, with %d charges, and a lookup says %s', async (simulate, charges, found) => {
    const impatient = connectionWith({}, 250);
    const call = chargeOf(method, { simulate });
    const outcome = await sim.adapter.authorize(impatient, call);
    expect(outcome.outcomeClass).toBe('unknown');
    const { payments } = await ledgerOf(sim.url, call.reference);
    expect(payments).toHaveLength(charges);
    const answer = await sim.adapter.lookup(impatient, { operation: 'authorize', ...call });
    expect(answer.found).toBe(found);
  });

  it('delay_5s outlives an impatient caller: the charge happens after the adapter has given up', async () => {
    const impatient = connectionWith({}, 250);
    const call = chargeOf(method, { simulate: 'delay_5s' });
    expect((await sim.adapter.authorize(impatient, call)).outcomeClass).toBe('unknown');
    expect((await sim.adapter.lookup(impatient, { operation: 'authorize', ...call })).found).toBe('absent');
    const patient = { ...impatient, deadlines: { connectMs: 1_000, totalMs: 7_000 } };
    expect((await sim.adapter.authorize(patient, call)).outcomeClass).toBe('unknown');
    const found = await eventually(async () => {
      const answer = await sim.adapter.lookup(patient, { operation: 'authorize', ...call });
      return answer.found === 'yes' && answer;
    }, { intervalMs: 200 });
    expect(found).toMatchObject({ outcome: { outcomeClass: 'approved' } });
    expect((await sim.adapter.authorize(patient, call)).outcomeClass).toBe('approved');
    expect((await ledgerOf(sim.url, call.reference)).payments).toHaveLength(1);
  }, 180_000);

  it('takes the payment\'s trigger before the connection\'s, and that before the card\'s', async () => {
    const lost = await tokenise('4000000000009987');
    const approving = connectionWith({ outcome: 'approved' });
    const other = connectionWith();
    const chargeAt = async (at: typeof approving, simulate?: string | Record<string, string>) =>
      (await sim.adapter.authorize(at, chargeOf(lost, { simulate }))).outcomeClass;
    expect(await chargeAt(other)).toBe('hard_decline');
    expect(await chargeAt(approving)).toBe('approved');
    expect(await chargeAt(approving, 'insufficient_funds')).toBe('insufficient_funds');
    expect(await chargeAt(approving, { [approving.publicId]: 'suspected_fraud' })).toBe('risk_refused');
    expect(await chargeAt(approving, { [other.publicId]: 'suspected_fraud' })).toBe('approved');
  });

  it.each(testCards.map((card) => [card.number, card] as const))('card %s does at authorisation and at charge what its row says', async (number, card) => {
    const theirs = await tokenise(number);
    const identity = { reference: `verify_${number}`, idempotencyKey: `verify_${number}` };
    const verified = await sim.adapter.verify(connection, { ...identity, theirPaymentMethodId: theirs, amountAtom: 0, currency: 'eur' });
    const charged = await sim.adapter.authorize(connection, chargeOf(theirs));
    const classes = { approved: 'approved', disputed: 'approved', challenge: 'action_required' } as Record<string, OutcomeClass>;
    const expected = (name: string) => classes[name] ?? simulatorDeclines.get(name)!.outcomeClass;
    expect(verified.outcomeClass).toBe(expected(card.atAuthorisation));
    expect(charged.outcomeClass).toBe(expected(card.atCharge));
  });

  it('refuses a number that is not a test card, and a card that has expired', async () => {
    const card = { number: '4111111111111111', expMonth: 12, expYear: 2040, cvc: '123' };
    const foreign = await sim.adapter.tokenise(connection, { reference: 'x', idempotencyKey: 'foreign', source: { card } });
    expect(foreign).toMatchObject({ outcomeClass: 'processor_error', rawCode: 'unknown_card' });
    const old = { ...card, number: '4242424242424242', expYear: 2020 };
    const expired = await sim.adapter.tokenise(connection, { reference: 'x', idempotencyKey: 'expired', source: { card: old } });
    expect(expired).toMatchObject({ outcomeClass: 'hard_decline', declineCode: 'expired_card' });
  });

  it('answers a repeated key with the first result, also beside itself, and charges once', async () => {
    const call = chargeOf(method);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => sim.adapter.authorize(connection, call)));
    const later = await sim.adapter.authorize(connection, { ...call, simulate: 'do_not_honor' });
    expect(later.outcomeClass).toBe('approved');
    for (const outcome of outcomes) expect(['approved', 'unknown']).toContain(outcome.outcomeClass);
    expect((await ledgerOf(sim.url, call.reference)).payments).toHaveLength(1);
    const changed = await sim.adapter.authorize(connection, { ...call, amountAtom: 1 });
    expect(changed.outcomeClass).toBe('unknown');
  });

  it('without idempotency charges twice, says so in its capabilities, and the lookup calls it a mismatch', async () => {
    const forgetful = connectionWith({ idempotency: false });
    const call = chargeOf(method);
    await sim.adapter.authorize(forgetful, call);
    await sim.adapter.authorize(forgetful, call);
    expect(sim.adapter.capabilities(forgetful).idempotencyWindowMs).toBeNull();
    expect((await ledgerOf(sim.url, call.reference)).payments).toHaveLength(2);
    expect(await sim.adapter.lookup(forgetful, { operation: 'authorize', ...call })).toMatchObject({ outcome: { outcomeClass: 'mismatch' } });
  });

  it.each([
    ['pending_then_approved', 'approved'],
    ['pending_then_declined', 'soft_decline'],
    ['late_callback', 'approved'],
  ])('%s settles: a later lookup says %s', async (simulate, outcomeClass) => {
    const call = chargeOf(method, { simulate });
    await sim.adapter.authorize(connection, call);
    const settled = await eventually(async () => {
      const answer = await sim.adapter.lookup(connection, { operation: 'authorize', ...call });
      return answer.found === 'yes' && answer.outcome.outcomeClass !== 'pending' && answer;
    });
    expect(settled).toMatchObject({ outcome: { outcomeClass } });
  });

  it.each([
    ['4000002760003184', 'passed', 'approved'],
    ['4000002760003184', 'failed', 'soft_decline'],
    ['4000008260003178', 'passed', 'insufficient_funds'],
  ])('the challenge of %s, %s, ends in %s', async (number, result, outcomeClass) => {
    const call = chargeOf(await tokenise(number), { returnUrl: 'http://127.0.0.1/back' });
    const asked = await sim.adapter.authorize(connection, call);
    const page = await fetch(asked.redirectUrl!);
    expect(await page.text()).toContain('<form');
    const body = new URLSearchParams({ result });
    const back = await fetch(asked.redirectUrl!, { method: 'POST', body, redirect: 'manual' });
    expect([back.status, back.headers.get('location')]).toEqual([303, 'http://127.0.0.1/back']);
    const answer = await sim.adapter.lookup(connection, { operation: 'authorize', ...call });
    expect(answer).toMatchObject({ outcome: { outcomeClass } });
  });

  it('declines a challenge whose customer is absent', async () => {
    const outcome = await sim.adapter.authorize(connection, chargeOf(await tokenise('4000002760003184'), { offSession: true }));
    expect(outcome.outcomeClass).toBe('authentication_required');
  });

  it('captures, refunds and voids within the sums, each found again by its reference', async () => {
    const call = chargeOf(method, { capture: 'manual' });
    const held = await sim.adapter.authorize(connection, call);
    expect(held).toMatchObject({ outcomeClass: 'approved', capturedAmountAtom: 0, approvedAmountAtom: 2_500 });
    const paymentId = held.processorPaymentId!;
    const part = (name: string, amountAtom: number) => ({
      reference: `${call.reference}_${name}`, idempotencyKey: `${call.idempotencyKey}_${name}`, processorPaymentId: paymentId, amountAtom, currency: 'eur',
    });
    expect((await sim.adapter.capture(connection, part('c0', 2_501))).rawCode).toBe('amount_too_large');
    expect((await sim.adapter.capture(connection, part('c1', 2_000))).outcomeClass).toBe('approved');
    expect((await sim.adapter.refund(connection, part('r1', 500))).outcomeClass).toBe('approved');
    expect((await sim.adapter.refund(connection, part('r2', 1_501))).rawCode).toBe('amount_too_large');
    const again = await sim.adapter.refund(connection, part('r1', 500));
    expect(again.outcomeClass).toBe('approved');
    const looked = await sim.adapter.lookup(connection, { operation: 'refund', reference: `${call.reference}_r1`, amountAtom: 500 });
    expect(looked).toMatchObject({ found: 'yes', outcome: { outcomeClass: 'approved' }, totals: { capturedAmountAtom: 2_000, refundedAmountAtom: 500 } });
    const refused = await sim.adapter.void(connection, { ...part('v1', 0), paymentReference: call.reference });
    expect(refused.rawCode).toBe('not_voidable');
    expect((await sim.adapter.lookup(connection, { operation: 'void', reference: `${call.reference}_v1` })).found).toBe('absent');
  });

  it('a refund that is lost on the wire is unknown, and the lookup finds it', async () => {
    const call = chargeOf(method);
    const paid = await sim.adapter.authorize(connection, call);
    const refund = { reference: `${call.reference}_r1`, idempotencyKey: `${call.reference}_r1`, processorPaymentId: paid.processorPaymentId!, amountAtom: 700, currency: 'eur' };
    expect((await sim.adapter.refund(connection, { ...refund, simulate: 'error_after_charge' })).outcomeClass).toBe('unknown');
    const looked = await sim.adapter.lookup(connection, { operation: 'refund', ...refund });
    expect(looked).toMatchObject({ found: 'yes', totals: { refundedAmountAtom: 700 } });
  });

  it('a void that overtakes its charge closes the reference: the charge is then refused with nothing created', async () => {
    const call = chargeOf(method);
    const cancel = { reference: `${call.reference}_void`, idempotencyKey: `${call.reference}_void`, paymentReference: call.reference };
    expect((await sim.adapter.void(connection, cancel)).outcomeClass).toBe('approved');
    const late = await sim.adapter.authorize(connection, call);
    expect(late).toMatchObject({ outcomeClass: 'processor_error', rawCode: 'reference_cancelled' });
    expect((await ledgerOf(sim.url, call.reference)).payments).toHaveLength(0);
  });

  it('a lookup that expects another amount or currency is a mismatch', async () => {
    const call = chargeOf(method);
    await sim.adapter.authorize(connection, call);
    const other = await sim.adapter.lookup(connection, { operation: 'authorize', ...call, amountAtom: 1 });
    expect(other).toMatchObject({ outcome: { outcomeClass: 'mismatch' } });
  });
});

describe('adapter against a peer that misbehaves on the wire', () => {
  const connection = connectionWith({}, 400);
  const servers: Server[] = [];

  async function peer(onBytes: (socket: import('node:net').Socket) => void): Promise<{ url: string; requests: () => number }> {
    let requests = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests += 1;
        onBytes(socket);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
  }

  afterAll(() => servers.forEach((server) => server.close()));

  const answerWith = (status: string, body: string) => (socket: import('node:net').Socket) =>
    socket.end(`HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const payment = (more: object) =>
    JSON.stringify({
      object: 'payment', id: 'p', reference: 'r', status: 'captured', amount: 2_500, amount_authorized: 2_500, amount_captured: 2_500,
      amount_refunded: 0, currency: 'eur', decline_code: null, network_transaction_id: null, redirect_url: null, disputed: false, ...more,
    });
  const refusal = (code: string) => JSON.stringify({ error: { code, message: 'm' } });

  it.each<[string, OutcomeClass, (socket: import('node:net').Socket) => void]>([
    ['silence', 'unknown', () => undefined],
    ['a reset', 'unknown', (socket) => socket.resetAndDestroy()],
    ['a hang-up', 'unknown', (socket) => socket.end()],
    ['half an answer', 'unknown', (socket) => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 500\r\n\r\n{"object":')],
    ['no HTTP at all', 'unknown', (socket) => socket.end('SSH-2.0-x\r\n')],
    ['408', 'unknown', answerWith('408 Request Timeout', refusal('processing_error'))],
    ['409', 'unknown', answerWith('409 Conflict', refusal('processing_error'))],
    ['425', 'unknown', answerWith('425 Too Early', refusal('processing_error'))],
    ['499', 'unknown', answerWith('499 Closed', refusal('processing_error'))],
    ['500 in its own format', 'unknown', answerWith('500 Internal', refusal('processing_error'))],
    ['503', 'unknown', answerWith('503 Unavailable', 'busy')],
    ['302', 'unknown', answerWith('302 Found', '')],
    ['422 that is not JSON', 'unknown', answerWith('422 Unprocessable', '<html>')],
    ['422 with an unlisted code', 'unknown', answerWith('422 Unprocessable', refusal('brand_new'))],
    ['402 with an unlisted code', 'soft_decline', answerWith('402 Payment Required', refusal('brand_new'))],
    ['a fitting answer', 'approved', answerWith('201 Created', payment({}))],
    ['another amount', 'mismatch', answerWith('201 Created', payment({ amount: 2_400 }))],
    ['another currency', 'mismatch', answerWith('201 Created', payment({ currency: 'usd' }))],
    ['another reference', 'mismatch', answerWith('201 Created', payment({ reference: 'q' }))],
    ['more approved than asked', 'mismatch', answerWith('201 Created', payment({ amount_authorized: 9_000 }))],
    ['an amount that is no integer', 'unknown', answerWith('201 Created', payment({ amount: 2500.5 }))],
    ['an endless answer', 'unknown', (socket) => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n80000\r\n${'x'.repeat(0x80000)}\r\n`)],
  ])('%s is %s, and the request is written once', async (_what, outcomeClass, onBytes) => {
    const server = await peer(onBytes);
    const adapter = createSimulatorAdapter({ baseUrl: server.url });
    const outcome = await adapter.authorize(connection, chargeOf('m', { reference: 'r' }));
    expect(outcome.outcomeClass).toBe(outcomeClass);
    expect(server.requests()).toBe(1);
  });

  it.each([
    ['a closed port', 'http://127.0.0.1:1'],
    ['a name that does not resolve', 'http://simulator.invalid:80'],
  ])('%s is not_sent', async (_what, baseUrl) => {
    const adapter = createSimulatorAdapter({ baseUrl });
    expect((await adapter.authorize(connection, chargeOf('m'))).outcomeClass).toBe('not_sent');
    expect((await adapter.lookup(connection, { operation: 'authorize', reference: 'r' })).found).toBe('unknown');
  });
});
