import { explainStatus } from './explain.js';
import { renderPayload, type DataFormat } from './payload.js';
import type { Poster, PostResult } from './poster.js';
import { signatureDigest, standardHeaders } from './signature.js';

export interface Receiver {
  /** Public id. */
  endpointId: string;
  url: string;
  format: DataFormat;
  /** Live secrets, newest first. */
  secrets: readonly string[];
  /** The receiver's own, in lower case; none of them is one of ours. */
  headers?: Readonly<Record<string, string>>;
}

export interface StoredEvent {
  /** Public id. */
  eventId: string;
  head: string;
  data: string;
  createdAt: Date;
}

export interface Delivered extends PostResult {
  startedAt: Date;
  /** A complete answer with a 2xx. */
  success: boolean;
}

/** The bytes and signatures of one attempt. */
export function signPost(receiver: Omit<Receiver, 'url'>, event: StoredEvent, attemptedAt: Date): { body: string; headers: Record<string, string> } {
  const { body, signed } = renderPayload({ ...receiver, ...event });
  return {
    body,
    headers: {
      ...receiver.headers,
      'signature-digest': signatureDigest({ createdAtSeconds: seconds(event.createdAt), data: signed, secrets: receiver.secrets }),
      ...standardHeaders({ id: event.eventId, attemptedAtSeconds: seconds(attemptedAt), body, secrets: receiver.secrets }),
    },
  };
}

/** Renders, signs and posts one event to one receiver. Never throws for what the receiver does. */
export async function deliver(poster: Poster, receiver: Receiver, event: StoredEvent, signal?: AbortSignal): Promise<Delivered> {
  const startedAt = new Date();
  const { body, headers } = signPost(receiver, event, startedAt);
  const result = await poster.post({ url: receiver.url, headers, body, signal });
  return { ...result, startedAt, success: result.status !== null && result.status >= 200 && result.status < 300 };
}

/** What is recorded of an attempt. */
export function outcomeOf(result: Delivered) {
  const { startedAt, durationMs, timings, address, requestHeaders, responseHeaders, status, excerpt, failure, detail } = result;
  return {
    startedAt, durationMs, timings, address, requestHeaders, responseHeaders,
    responseStatus: status,
    responseText: excerpt,
    error: failure,
    detail: detail ?? (status === null ? null : explainStatus(status)),
  };
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
