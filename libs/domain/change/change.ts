import type { Environment } from '../environment.js';

/** The idempotency record that the first write of a keyed request makes. */
export interface Claim {
  key: string;
  fingerprint: string;
  tokenId: string;
  owner: string;
  objectId: string | null;
}

/**
 * Who changes something, why, and under which command. JSON-safe: it travels from the API through workflows into the
 * transaction, where it ends up on the event.
 */
export interface Change {
  accountId: string;
  environment: Environment;
  /** Public id of the token or user, or `system`. */
  actor: string | null;
  requestId: string | null;
  idempotencyKey: string | null;
  /** UUID; the same command never takes effect twice. */
  commandId: string;
  /** Time of the test clock (RFC 3339), null on real time. */
  clockTime: string | null;
  claim?: Claim | null;
}
