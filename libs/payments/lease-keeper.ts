import { renewLeases } from '../db/payment-lease.writes.js';
import type { Db } from '../db/client.js';

/** The right to move one payment. Valid while the row's `lease_token` is `token`. */
export interface Lease {
  readonly intentId: string;
  readonly token: number;
  /** Monotonic milliseconds of the last moment at which the lease was certainly ours. */
  confirmedAt: number;
  lost: boolean;
}

const renewEveryMs = 1_500;
const dialWithinMs = 3_000;
const abandonAfterMs = 4_000;

interface KeeperOptions {
  owner: string;
  warn: (message: string, details: Record<string, unknown>) => void;
}

/** Renews all leases of this process with one statement. Clocks of machines never count: only Postgres' and the monotonic one. */
export class LeaseKeeper {
  readonly owner: string;
  readonly #db: Db;
  readonly #warn: KeeperOptions['warn'];
  readonly #held = new Set<Lease>();
  #timer: NodeJS.Timeout | null = null;
  #renewing: Promise<void> | null = null;

  constructor(db: Db, options: KeeperOptions) {
    this.#db = db;
    this.#warn = options.warn;
    this.owner = options.owner;
  }

  /** `askedAt`: `performance.now()` before the statement that took the lease was sent. */
  hold(intentId: string, token: number, askedAt: number): Lease {
    const lease: Lease = { intentId, token, confirmedAt: askedAt, lost: false };
    this.keep(lease);
    return lease;
  }

  /** Renews a lease whose row was just written. */
  keep(lease: Lease): void {
    this.#held.add(lease);
    this.#timer ??= setInterval(() => void this.renew(), renewEveryMs).unref();
  }

  drop(lease: Lease): void {
    this.#held.delete(lease);
    if (this.#held.size === 0 && this.#timer) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  /** Whether a request may leave now; renews first if the last renewal is too long ago. */
  async mayDial(lease: Lease): Promise<boolean> {
    if (!lease.lost && age(lease) >= dialWithinMs) await this.renew();
    return !lease.lost && age(lease) < dialWithinMs;
  }

  isAbandoned(lease: Lease): boolean {
    return lease.lost || age(lease) >= abandonAfterMs;
  }

  renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    const leases = [...this.#held].filter((lease) => !lease.lost);
    if (leases.length === 0) return;
    const askedAt = performance.now();
    try {
      const renewed = await renewLeases(this.#db, leases);
      for (const lease of leases) {
        if (renewed.has(lease.intentId)) lease.confirmedAt = Math.max(lease.confirmedAt, askedAt);
        else if (this.#held.has(lease)) lease.lost = true;
      }
    } catch (error) {
      this.#warn('payment leases not renewed', { error: String(error), leases: leases.length });
    }
  }
}

function age(lease: Lease): number {
  return performance.now() - lease.confirmedAt;
}
