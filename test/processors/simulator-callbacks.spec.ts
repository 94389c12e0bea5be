import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createSimulator } from '../../apps/simulator/src/simulator.js';
import type { Connection, ProcessorAdapter, ToldPayment } from '../../libs/processors/port.js';
import type { ToldPaymentAnswer } from '../../libs/processors/simulator/simulator.answer.js';
import { createSimulatorAdapter } from '../../libs/processors/simulator/simulator.adapter.js';
import { eventually } from '../support/stack.js';
import { chargeOf, connectionWith } from './running-simulator.js';

const secret = randomBytes(32);
const settleMs = 100;

interface Posted {
  headers: IncomingMessage['headers'];
  body: Buffer;
  at: number;
}

/** Takes callbacks, answering with the statuses given, then 200. */
class Merchant {
  readonly posted: Posted[] = [];
  statuses: number[] = [];
  private server: Server | null = null;
  url = '';

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.posted.push({ headers: request.headers, body: Buffer.concat(chunks), at: Date.now() });
        response.writeHead(this.statuses.shift() ?? 200).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`;
  }

  close(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }
}

let folder: string;
let app: FastifyInstance;
let url: string;
let adapter: ProcessorAdapter;
let merchant: Merchant;
let method: string;
let connection: Connection;

async function start(): Promise<void> {
  app = await createSimulator({ ledgerFile: join(folder, 'ledger.ndjson'), settleMs, secret, onLost: (error) => { throw error; } });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  adapter = createSimulatorAdapter({ baseUrl: url, secret });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  await start();
  const card = { number: '4242424242424242', expMonth: 12, expYear: 2040, cvc: '123' };
  method = (await adapter.tokenise(connectionWith(), { reference: 'm', idempotencyKey: 'm', source: { card } })).theirPaymentMethodId!;
});
beforeEach(async () => {
  merchant = new Merchant();
  await merchant.open();
  connection = connectionWith();
});
afterEach(() => merchant.close());
afterAll(async () => {
  await adapter.close();
  await app.close();
  await rm(folder, { recursive: true });
});

async function charge(simulate: string, more: object = {}) {
  const call = chargeOf(method, { simulate, callbackUrl: merchant.url, ...more });
  return { call, paid: await adapter.authorize(connection, call) };
}

async function control(path: string, body: object = {}) {
  const answer = await fetch(`${url}/control/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as ToldPaymentAnswer };
}

const read = ({ headers, body, at }: Posted, when = at, of = connection) =>
  adapter.parseCallback(of, { headers: headers as Record<string, string>, body, receivedAt: when });

async function told(count: number): Promise<{ eventId: string; eventType: string; payment: ToldPayment }[]> {
  await eventually(() => merchant.posted.length >= count);
  return merchant.posted.map((posted) => {
    const answer = read(posted);
    if (answer.kind !== 'accepted' || !answer.payment) throw new Error(JSON.stringify(answer));
    return { ...answer, payment: answer.payment };
  });
}

describe('callbacks of the simulator', () => {
  it('tell what settled, signed, under the connection\'s key, fresh at each attempt', async () => {
    const { call } = await charge('pending_then_approved');
    const [one] = await told(1);
    expect(one).toMatchObject({
      eventType: 'payment.captured',
      payment: { reference: call.reference, amountAtom: 2_500, currency: 'eur', outcome: { outcomeClass: 'approved' }, totals: { capturedAmountAtom: 2_500, voided: false } },
    });
    const [posted] = merchant.posted;
    expect(read(posted!, posted!.at + 301_000).kind).toBe('refused');
    expect(read(posted!, posted!.at, connectionWith()).kind).toBe('refused');
    expect(read({ ...posted!, body: Buffer.concat([posted!.body, Buffer.from(' ')]) }).kind).toBe('refused');
    expect(createSimulatorAdapter({ baseUrl: url }).parseCallback(connection, { headers: {}, body: posted!.body, receivedAt: 0 }).kind).toBe('refused');
  });

  it('are posted until a 2xx, then no more', async () => {
    merchant.statuses = [500, 404, 302];
    await charge('pending_then_declined');
    const events = await told(4);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(1);
    expect(events[3]!.payment.outcome).toMatchObject({ outcomeClass: 'soft_decline', declineCode: 'do_not_honor' });
    await charge('pending_then_approved');
    await told(5);
    expect(merchant.posted).toHaveLength(5);
  });

  it('that nobody took are posted after a restart, with the same id', async () => {
    merchant.statuses = Array<number>(1_000).fill(503);
    await charge('pending_then_approved');
    const [first] = await told(1);
    await adapter.close();
    await app.close();
    merchant.statuses = [];
    merchant.posted.length = 0;
    await start();
    expect((await told(1))[0]).toEqual(first);
  });

  it('duplicate_callback comes twice, reordered_callbacks ends with pending, late_callback comes after three settle times', async () => {
    await charge('duplicate_callback');
    expect(new Set((await told(2)).map(({ eventId }) => eventId)).size).toBe(1);
    merchant.posted.length = 0;
    await charge('reordered_callbacks');
    expect((await told(2)).map(({ payment }) => payment.outcome.outcomeClass)).toEqual(['approved', 'pending']);
    merchant.posted.length = 0;
    const asked = Date.now();
    await charge('late_callback');
    await told(1);
    expect(merchant.posted[0]!.at - asked).toBeGreaterThanOrEqual(4 * settleMs);
  });

  it('do not tell what an answer told', async () => {
    const { call, paid } = await charge('approved');
    const part = { reference: `${call.reference}-r`, idempotencyKey: `${call.reference}-r`, processorPaymentId: paid.processorPaymentId!, amountAtom: 100, currency: 'eur' };
    await adapter.refund(connection, part);
    await charge('pending_then_approved');
    await told(1);
    expect(merchant.posted).toHaveLength(1);
  });
});

describe('what takes its time or is done by people', () => {
  it('a refund is accepted, then made or failed, each found by lookup and told', async () => {
    const { call, paid } = await charge('approved');
    const part = (name: string, amountAtom: number, simulate?: string) => ({
      reference: `${call.reference}-${name}`, idempotencyKey: `${call.reference}-${name}`, processorPaymentId: paid.processorPaymentId!, amountAtom, currency: 'eur', simulate,
    });
    const [good, bad] = [part('good', 2_000, 'pending_then_approved'), part('bad', 500, 'pending_then_declined')];
    expect(await adapter.refund(connection, good)).toMatchObject({ outcomeClass: 'pending', processorOperationId: expect.any(String) });
    expect(await adapter.refund(connection, bad)).toMatchObject({ outcomeClass: 'pending' });
    expect((await adapter.refund(connection, part('more', 1))).rawCode).toBe('amount_too_large');
    const events = await told(2);
    expect(events.map(({ eventType }) => eventType).sort()).toEqual(['refund.failed', 'refund.succeeded']);
    const last = events.find(({ payment }) => payment.refunds.every(({ status }) => status !== 'pending'))!.payment;
    expect(last.totals.refundedAmountAtom).toBe(2_000);
    expect(last.refunds).toMatchObject([{ reference: good.reference, status: 'succeeded' }, { reference: bad.reference, status: 'failed', failureMessage: expect.any(String) }]);
    expect(await adapter.lookup(connection, { operation: 'refund', ...good })).toMatchObject({ outcome: { outcomeClass: 'approved' } });
    expect(await adapter.lookup(connection, { operation: 'refund', ...bad })).toMatchObject({ outcome: { outcomeClass: 'soft_decline', declineCode: 'generic_decline' } });
    expect((await adapter.refund(connection, part('rest', 500))).outcomeClass).toBe('approved');
  });

  it('refunds, captures, voids and disputes of people are told without a reference of ours', async () => {
    const { paid } = await charge('approved');
    const refunded = await control(`payments/${paid.processorPaymentId}/refunds`, { amount: 600 });
    expect(refunded.body.refunds).toMatchObject([{ reference: null, amount: 600, status: 'succeeded' }]);
    const disputed = await control(`payments/${paid.processorPaymentId}/disputes`, { amount: 1_900 });
    await control(`disputes/${disputed.body.disputes[0]!.id}`, { status: 'won' });
    await control(`refunds/${refunded.body.refunds[0]!.id}`, { status: 'failed' });
    const events = await told(4);
    expect(events.map(({ eventType }) => eventType)).toEqual(['refund.created', 'dispute.opened', 'dispute.won', 'refund.failed']);
    expect(events[1]!.payment).toMatchObject({ totals: { disputed: true, refundedAmountAtom: 600 }, disputes: [{ status: 'open', amountAtom: 1_900 }] });
    expect(events[3]!.payment).toMatchObject({ totals: { disputed: false, refundedAmountAtom: 0 }, refunds: [{ status: 'failed' }] });
    const held = await charge('approved', { capture: 'manual' });
    expect((await control(`payments/${held.paid.processorPaymentId}/capture`, { amount: 700 })).body).toMatchObject({ status: 'captured', amount_captured: 700 });
    const other = await charge('approved', { capture: 'manual' });
    expect((await control(`payments/${other.paid.processorPaymentId}/void`)).body.status).toBe('voided');
    const [captured, voided] = (await told(6)).slice(4);
    expect(captured!.payment.totals).toMatchObject({ capturedAmountAtom: 700, voided: false });
    expect(voided!.payment.totals).toMatchObject({ authorizedAmountAtom: 2_500, voided: true });
  });

  it.each(['payments/x/refunds', 'payments/x/void', 'payments/x/disputes', 'disputes/x', 'refunds/x'])('%s of nothing is 404 or 422', async (path) => {
    expect([404, 422]).toContain((await control(path)).status);
  });
});

describe('the list for reconciliation', () => {
  it('tells the payments of a range, page by page, with all that belongs to them', async () => {
    const since = new Date().toISOString();
    const calls = [];
    for (let index = 0; index < 3; index += 1) calls.push((await charge('approved')).call.reference);
    const { paid } = await charge('do_not_honor');
    const until = new Date(Date.now() + 1).toISOString();
    expect(paid.outcomeClass).toBe('soft_decline');
    const page = await adapter.list!(connection, { since, until, cursor: null });
    if (!page.ok) throw new Error(page.unavailable);
    expect(page.payments.map(({ reference }) => reference).slice(0, 3)).toEqual(calls);
    expect(page.payments[3]!.outcome).toMatchObject({ outcomeClass: 'soft_decline', declineCode: 'do_not_honor' });
    expect(page.nextCursor).toBeNull();
    const rest = await adapter.list!(connection, { since, until, cursor: page.payments[1]!.processorPaymentId });
    expect(rest.ok && rest.payments.map(({ reference }) => reference)[0]).toBe(calls[2]);
    expect(await adapter.list!(connectionWith(), { since, until, cursor: null })).toEqual({ ok: true, payments: [], nextCursor: null });
    expect(await adapter.list!(connection, { since: until, until, cursor: null })).toEqual({ ok: true, payments: [], nextCursor: null });
    expect(adapter.capabilities(connection).list).toBe(true);
  });

  it('says so when the provider cannot be read', async () => {
    const away = createSimulatorAdapter({ baseUrl: 'http://127.0.0.1:1', secret });
    const range = { since: new Date(0).toISOString(), until: new Date().toISOString(), cursor: null };
    expect(await away.list!(connection, range)).toMatchObject({ ok: false, unavailable: expect.any(String) });
    await away.close();
  });
});
