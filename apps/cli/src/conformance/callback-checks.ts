import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signatureHeader } from '../../../../libs/processors/http/http.signature.js';
import type { InboundCallback } from '../../../../libs/processors/port.js';
import { Broken, holds, NotOffered, same, type Check } from './check.js';

const patienceMs = 15_000;

/** Receives callbacks on this machine; they come in the order of their arrival. */
export class Mailbox {
  private readonly letters: InboundCallback[] = [];
  private woken: () => void = () => undefined;

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async open(port: number): Promise<Mailbox> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
        mailbox.letters.push({ headers, body: Buffer.concat(chunks), receivedAt: Date.now() });
        mailbox.woken();
        response.writeHead(204).end();
      });
    });
    const mailbox = new Mailbox(server);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    return mailbox;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/callbacks/conformance`;
  }

  /** The first callback that fits, now or within 15 s. */
  async first(fits: (letter: InboundCallback) => boolean): Promise<InboundCallback> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const letter = this.letters.find(fits);
      if (letter) return letter;
      if (Date.now() >= deadline) throw new Broken(`no callback came within ${patienceMs / 1_000} s`);
      await new Promise<void>((resolve) => {
        this.woken = resolve;
        setTimeout(resolve, deadline - Date.now()).unref();
      });
    }
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export function callbackChecks(mailbox: Mailbox | null): readonly Check[] {
  return [
    {
      name: 'callback',
      promise: 'a payment made with a callback address is posted there, signed, as a callback of the contract',
      async run(trial) {
        if (!mailbox || !trial.options.callbackUrl) throw new NotOffered('run with --callback-port to receive callbacks here');
        const { call, id } = await trial.paid({ callbackUrl: trial.options.callbackUrl });
        const letter = await mailbox.first(({ body }) => Buffer.from(body).toString().includes(call.reference));
        const answer = trial.adapter.parseCallback(trial.connection, letter);
        holds(answer.kind === 'accepted', `the callback is refused: ${answer.kind === 'refused' ? answer.reason : ''}`);
        same('the payment in it', [answer.payment?.reference, answer.payment?.processorPaymentId], [call.reference, id]);
        const spoilt = { ...letter, body: Buffer.from(Buffer.from(letter.body).toString().replace('2500', '9900')) };
        same('the same callback with another amount', trial.adapter.parseCallback(trial.connection, spoilt).kind, 'refused');
        holds(letter.headers[signatureHeader] !== undefined, 'it carries no signature');
      },
    },
  ];
}
