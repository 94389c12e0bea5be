import type { PostFailure } from './poster.js';

export interface FailedPost {
  failure: PostFailure;
  /** Host name of the URL. */
  host: string;
  /** Address and port that were tried, where it came so far. */
  address: string | null;
  /** What the network library or the policy said. */
  cause: string | null;
  deadlineMs: number;
  /** Whether a connection stood when the deadline passed. */
  connected: boolean;
}

const longestCause = 200;

/** Why there is no whole answer, in words that an operator can act on. */
export function explainFailure({ failure, host, address, cause, deadlineMs, connected }: FailedPost): string {
  const where = address === null ? host : `${host} (${address})`;
  const said = cause ? `: ${cause.slice(0, longestCause)}` : '';
  const seconds = deadlineMs / 1000;
  const texts: Record<PostFailure, string> = {
    address_refused: `${host} was not called, because its address may not be called${said}.`,
    name_not_resolved: `The name ${host} could not be resolved${said}.`,
    connection_failed: `No connection to ${where} came about${said}.`,
    connection_lost: `${where} closed the connection before its answer was complete${said}.`,
    tls_failed: `The TLS handshake with ${where} failed${said}.`,
    timed_out: connected ? `${where} gave no complete answer within ${seconds} s.` : `No connection to ${where} stood within ${seconds} s.`,
    unreadable_answer: `What ${where} answered is not HTTP that can be read${said}.`,
    interrupted: 'This process was stopped before the answer was complete.',
  };
  return texts[failure];
}

/** An answer that is not a success, in words. */
export function explainStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The receiver answered ${status}: redirects are not followed; register the address it points to.`;
  if (status === 410) return 'The receiver answered 410: it wants no more webhooks.';
  return `The receiver answered ${status}.`;
}
