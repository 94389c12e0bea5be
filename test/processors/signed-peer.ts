import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign, signatureHeader, signatureOf } from '../../libs/processors/http/http.signature.js';
import type { AuthorizeCall, Connection } from '../../libs/processors/port.js';

export interface Scripted {
  status?: number;
  /** An object is sent as JSON. */
  body?: unknown;
  /** Default: rightly, with the shared secret. */
  signature?: 'none' | 'other secret' | 'of another request' | 'of another status' | 'ten minutes old';
  /** Instead of a whole answer. */
  instead?: 'hang' | 'reset' | 'half';
}

/** A provider that answers, and signs, what it is told to. */
export class SignedPeer {
  readonly secret = randomBytes(24).toString('hex');
  /** Requests as they came, newest last. */
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  next: Scripted = {};
  private readonly server: Server = createServer((request, response) => void this.receive(request, response));

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/below/here`;
  }

  connection(more: Partial<Connection> = {}): Connection {
    return {
      id: 'c', publicId: 'processor_stg_c', kind: 'http', settings: { base_url: this.url }, credentials: { secret: this.secret },
      deadlines: { connectMs: 1_000, totalMs: 2_000 }, ...more,
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    this.requests.push({ method: request.method!, url: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() });
    const { status = 201, body = '', instead } = this.next;
    if (instead === 'hang') return;
    if (instead === 'reset') return void request.socket.destroy();
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const signature = this.signature(String(request.headers[signatureHeader] ?? ''), status, text);
    if (signature) response.setHeader(signatureHeader, signature);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    if (instead !== 'half') return void response.end(text);
    response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
  }

  private signature(asked: string, status: number, body: string): string | null {
    const now = Math.floor(Date.now() / 1000);
    const answer = { kind: 'answer' as const, status, request: signatureOf(asked), body };
    switch (this.next.signature) {
      case 'none':
        return null;
      case 'other secret':
        return sign('x'.repeat(48), answer, now);
      case 'of another request':
        return sign(this.secret, { ...answer, request: '0'.repeat(64) }, now);
      case 'of another status':
        return sign(this.secret, { ...answer, status: 200 }, now);
      case 'ten minutes old':
        return sign(this.secret, answer, now - 600);
      default:
        return sign(this.secret, answer, now);
    }
  }
}

export const asked: AuthorizeCall = {
  reference: 'ref-1', idempotencyKey: 'key-1', amountAtom: 2_500, currency: 'eur', capture: 'automatic', theirPaymentMethodId: 'pm_1', offSession: false,
};

/** The payment that `asked` should lead to. */
export function paymentLike(more: object = {}): object {
  return {
    object: 'payment', id: 'pay_1', reference: 'ref-1', status: 'captured', amount: 2_500, amount_authorized: 2_500, amount_captured: 2_500, amount_refunded: 0,
    currency: 'eur', decline: null, network_transaction_id: 'ntid_1', redirect_url: null, refunds: [], disputes: [], created_at: '2030-01-01T00:00:00.000Z', ...more,
  };
}

export function operationLike(more: object = {}): object {
  return { object: 'operation', id: 'op_1', kind: 'refund', reference: 'ref-r', status: 'succeeded', amount: 500, currency: 'eur', decline: null, payment: paymentLike(), ...more };
}
