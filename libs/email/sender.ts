import { createTransport } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import type { RenderedEmail } from './render.js';
import { oneLine } from './render.js';
import { outcomeOf, type SendOutcome } from './send-outcome.js';

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  /** STARTTLS or nothing. */
  requireTls: boolean;
  user: string | null;
  password: string | null;
  /** Address that mails come from. */
  from: string;
}

export interface OutgoingEmail extends RenderedEmail {
  recipient: string;
  senderName: string;
  replyTo: string | null;
  /** The same for each try of one mail, so that receivers drop a duplicate. */
  messageId: string;
}

export interface EmailSender {
  /** Never throws; ends within 45 s. */
  send(mail: OutgoingEmail): Promise<SendOutcome>;
  close(): void;
}

const connectMs = 10_000;
const silenceMs = 15_000;
const totalMs = 45_000;

/** Connections are kept and shared, at most `connections` of them. */
export function openSender(server: SmtpServer, connections: number): EmailSender {
  const options: SMTPPool.Options = {
    pool: true,
    maxConnections: connections,
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: server.requireTls,
    auth: server.user === null ? undefined : { user: server.user, pass: server.password ?? '' },
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const transport = createTransport(options);
  const secrets = [server.password, server.user].filter((secret) => secret !== null && secret !== '') as string[];
  return {
    async send(mail) {
      try {
        await within(totalMs, transport.sendMail({
          from: { name: oneLine(mail.senderName), address: server.from },
          to: { name: '', address: mail.recipient },
          replyTo: mail.replyTo ?? undefined,
          subject: mail.subject,
          html: mail.html,
          text: mail.text,
          messageId: mail.messageId,
          headers: { 'Auto-Submitted': 'auto-generated' },
        }));
        return { kind: 'sent' };
      } catch (error) {
        return outcomeOf(error, secrets);
      }
    },
    close: () => transport.close(),
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
