import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign, signatureHeader, signatureOf } from '../../libs/processors/http/http.signature.js';
import { made } from './shop.js';
import type { Client } from '../support/account.js';

/** A payment as the contract of kind `http` tells it. */
export interface TheirPayment {
  id: string;
  reference: string;
  status: string;
  amount: number;
  amount_authorized: number;
  amount_captured: number;
  amount_refunded: number;
  currency: string;
  decline: { code: string; network?: object } | null;
  redirect_url: string | null;
  [field: string]: unknown;
}

/** The fields of every request, of which each has some. */
interface Asked {
  reference: string;
  amount: number;
  currency: string;
  capture: string;
  token: string;
  payment_reference: string;
  callback_url: string | null;
}

export type Reply = { status: number; body: unknown } | 'reset';

/** How `POST /payments` is answered; `payment` is what an approval would be. What is answered is also what a look-up finds. */
export type Behaviour = (payment: TheirPayment) => TheirPayment | Reply;

/** A provider of kind `http` that keeps the contract, but does with payments what it is told to. */
export class ScriptedProvider {
  readonly secret = randomBytes(24).toString('hex');
  readonly payments = new Map<string, TheirPayment>();
  /** Every capture, void and refund that was asked for. */
  readonly operations: { kind: string; reference: string; status: string }[] = [];
  behave: Behaviour = (payment) => payment;
  /** Instead of doing a capture, void or refund. */
  refuse: Partial<Record<'capture' | 'void' | 'refund', Reply>> = {};
  /** Paths that are not answered until `resume`; what was asked there waits in `hung`. */
  hangsAt: RegExp | null = null;
  readonly hung: string[] = [];
  private readonly resumes: (() => void)[] = [];
  private callbackUrl: string | null = null;
  private readonly server: Server = createServer((request, response) => void this.receive(request, response));

  static async open(): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider();
    await new Promise<void>((resolve) => provider.server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A connection to it; the settings go on top of its address. */
  connect(admin: Client, settings: object = {}): Promise<string> {
    const body = { name: 'Scripted', kind: 'http', credentials: { secret: this.secret }, settings: { base_url: this.url, ...settings } };
    return made(admin.post('/payment-processors/', body));
  }

  /** Payments that hold the customer's money. */
  get taken(): TheirPayment[] {
    return [...this.payments.values()].filter((payment) => payment.amount_captured > payment.amount_refunded || payment.status === 'authorized');
  }

  /** Changes what it knows of a payment, and tells it by callback; answers the callback's status. */
  async tell(reference: string, change: Partial<TheirPayment>): Promise<number> {
    const payment = { ...this.payments.get(reference)!, ...change };
    this.payments.set(reference, payment);
    const body = JSON.stringify({ id: `evt_${randomUUID()}`, type: 'payment.updated', created_at: new Date().toISOString(), payment });
    const signature = sign(this.secret, { kind: 'callback', body }, Math.floor(Date.now() / 1000));
    const headers = { 'content-type': 'application/json', [signatureHeader]: signature };
    return (await fetch(this.callbackUrl!, { method: 'POST', headers, body })).status;
  }

  /** Answers what hangs, and whatever comes. */
  resume(): void {
    this.hangsAt = null;
    this.hung.length = 0;
    for (const go of this.resumes.splice(0)) go();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = (chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}) as Asked;
    if (this.hangsAt?.test(request.url!)) {
      this.hung.push(request.url!);
      await new Promise<void>((go) => this.resumes.push(go));
    }
    const reply = this.answer(new URL(request.url!, this.url), request.method!, body);
    if (reply === 'reset') return void request.socket.destroy();
    const text = JSON.stringify(reply.body);
    const asked = signatureOf(String(request.headers[signatureHeader] ?? ''));
    const signature = sign(this.secret, { kind: 'answer', status: reply.status, request: asked, body: text }, Math.floor(Date.now() / 1000));
    response.writeHead(reply.status, { 'content-type': 'application/json', [signatureHeader]: signature });
    response.end(text);
  }

  private answer({ pathname, searchParams }: URL, method: string, body: Asked): Reply {
    const reference = searchParams.get('reference') ?? '';
    if (pathname === '/payment-methods') return ok(methodOf(body.token));
    if (pathname === '/verifications') return ok({ object: 'verification', id: randomUUID(), network_transaction_id: 'ntid', ...pick(body) });
    if (pathname === '/payments' && method === 'POST') return this.authorize(body);
    if (pathname === '/payments/by-reference') return ok({ data: this.payments.has(reference) ? [this.payments.get(reference)] : [] });
    if (pathname === '/operations') return ok({ data: [] });
    if (pathname === '/voids') return this.operate('void', this.payments.get(body.payment_reference), body);
    const [, , id, kind] = pathname.split('/');
    const payment = [...this.payments.values()].find((each) => each.id === id);
    return this.operate(kind === 'captures' ? 'capture' : 'refund', payment, body);
  }

  private authorize(body: Asked): Reply {
    this.callbackUrl = body.callback_url;
    const captured = body.capture === 'automatic';
    const reply = this.behave({
      object: 'payment', id: randomUUID(), ...pick(body), status: captured ? 'captured' : 'authorized', amount_authorized: body.amount,
      amount_captured: captured ? body.amount : 0, amount_refunded: 0, decline: null, network_transaction_id: 'ntid', redirect_url: null,
      refunds: [], disputes: [], created_at: new Date().toISOString(),
    } as unknown as TheirPayment);
    if (reply === 'reset' || 'body' in reply) return reply as Reply;
    this.payments.set(body.reference, reply as TheirPayment);
    return reply.status === 'declined' ? { status: 402, body: { error: reply.decline, payment: reply } } : ok(reply);
  }

  private operate(kind: 'capture' | 'void' | 'refund', payment: TheirPayment | undefined, body: Asked): Reply {
    const refused = this.refuse[kind];
    this.operations.push({ kind, reference: payment?.reference ?? body.payment_reference, status: refused ? 'refused' : 'succeeded' });
    if (refused) return refused;
    const amount = (body.amount as number | undefined) ?? payment?.amount_authorized ?? 0;
    if (payment && kind === 'void') payment.status = 'voided';
    if (payment && kind === 'capture') Object.assign(payment, { status: 'captured', amount_captured: amount });
    if (payment && kind === 'refund') payment.amount_refunded += amount;
    return ok({ object: 'operation', id: randomUUID(), kind, reference: body.reference, status: 'succeeded', amount, currency: payment?.currency ?? null, decline: null, payment: payment ?? null });
  }
}

export function declined(code: string, network?: object): Behaviour {
  return (payment) => ({ ...payment, status: 'declined', amount_authorized: 0, amount_captured: 0, decline: { code, ...(network ? { network } : {}) } });
}

/** Nothing is answered. `charged`: the money was taken all the same. */
export function silent(provider: ScriptedProvider, { charged }: { charged: boolean }): Behaviour {
  return (payment) => {
    if (charged) provider.payments.set(payment.reference, payment);
    return 'reset';
  };
}

function pick({ reference, amount, currency }: Asked): object {
  return { reference, amount, currency };
}

function ok(body: unknown): Reply {
  return { status: 201, body };
}

/** The token says which card it is: `<brand>:<fingerprint>`. */
function methodOf(token: string): object {
  const [brand, fingerprint] = token.split(':');
  const card = { brand, last4: '4242', iin: '424242', exp_month: 12, exp_year: 2040, funding: 'credit', country: null, issuer: null, fingerprint };
  return { object: 'payment_method', id: `pm_${randomUUID()}`, card };
}
