import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

export interface Received {
  to: string[];
  raw: string;
  mail: Email;
}

/** A real SMTP server on the own machine that keeps what it takes. */
export class Mailbox {
  received: Received[] = [];
  /** Answers each recipient; an error's `responseCode` is what the client sees. */
  refuse: () => Error | null = () => null;
  /** Each message waits for it after it was taken and before that is confirmed. */
  beforeAnswer: () => Promise<void> = () => Promise.resolve();
  port = 0;
  private server: SMTPServer | null = null;

  /** Listens again at the same port after a stop. */
  async start(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      closeTimeout: 100,
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_address, _session, done) => done(this.refuse()),
      onData: (stream, { envelope }, done) => void this.take(stream, envelope.rcptTo.map(({ address }) => address)).then(() => done(), done),
    });
    server.on('error', () => undefined);
    this.server = server;
    await new Promise<void>((ready) => server.listen(this.port, '127.0.0.1', ready));
    this.port = (server.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (server) await new Promise<void>((closed) => server.close(closed));
    this.server = null;
  }

  to(recipient: string): Received[] {
    return this.received.filter(({ to }) => to.includes(recipient));
  }

  private async take(stream: SMTPServerDataStream, to: string[]): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString('utf8');
    this.received.push({ to, raw, mail: await PostalMime.parse(raw) });
    await this.beforeAnswer();
  }
}

export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
