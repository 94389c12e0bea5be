import { oneLine } from './render.js';

/** `reason` is for people, without secrets. `refused`: no later try helps. */
export type SendOutcome = { kind: 'sent' } | { kind: 'later'; reason: string } | { kind: 'refused'; reason: string };

interface SmtpError {
  code?: string;
  responseCode?: number;
  response?: string;
  message?: string;
}

const reasonLength = 500;

/**
 * Only a 5xx about this very mail (RFC 5321 §4.2.1: its sender, recipient or content) ends it. A refused login, greeting or TLS
 * says that the server is set up wrongly, which a person mends: those are tried again, as are 4xx and lost connections.
 */
export function outcomeOf(error: unknown, secrets: readonly string[]): SendOutcome {
  const { code, responseCode, response, message } = (error ?? {}) as SmtpError;
  const reason = redact(oneLine(response ?? message ?? 'unknown error'), secrets).slice(0, reasonLength);
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  return isAboutMail && (responseCode ?? 0) >= 500 ? { kind: 'refused', reason } : { kind: 'later', reason };
}

function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}
