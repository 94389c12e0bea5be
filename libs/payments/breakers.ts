import { LRUCache } from 'lru-cache';
import { transact } from '../db/change.js';
import type { Db } from '../db/client.js';
import { newId } from '../db/mint.js';
import { markDegraded, markRecovered } from '../db/processor-health.writes.js';
import type { Environment } from '../domain/environment.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import { Breaker, breakerDefaults, type BreakerSettings } from '../domain/route/breaker.js';
import type { OpenBreaker } from '../domain/route/route.decision.js';
import { publicId } from '../views/ids.js';
import type { OpenConnection } from './connection-cache.js';

interface Watched {
  breaker: Breaker;
  accountId: string;
  /** Wall clock, epoch milliseconds; when it opened. */
  since: number;
  /** Version of the row that the breaker has taken into account. */
  version: number;
  /** What the row says, as far as this process knows. */
  told: 'open' | 'closed';
  writing: boolean;
  /** After a failed write, when it may be tried again. */
  writeFrom: number;
}

interface BreakersOptions {
  db: Db;
  environment: Environment;
  settings?: Partial<BreakerSettings>;
  warn: (message: string, details: Record<string, unknown>) => void;
}

const forgottenAfterMs = 86_400_000;
const writeAgainMs = 1_000;

/**
 * The breakers of one process. Each watches its own calls; the row's `degraded_at` tells the other processes, and is
 * adopted from them whenever it changes. Only new attempts ask: look-ups, captures, voids and refunds never do.
 */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #settings: BreakerSettings;
  readonly #watched = new LRUCache<string, Watched>({ max: 10_000, ttl: forgottenAfterMs, updateAgeOnGet: true });

  constructor(options: BreakersOptions) {
    this.#options = options;
    this.#settings = { ...breakerDefaults, ...options.settings };
  }

  /** How a connection stands for a payment that is being routed; null while it takes its share. */
  standing(accountId: string, connection: OpenConnection): OpenBreaker | null {
    const watched = this.#of(accountId, connection);
    watched.breaker.judge(monotonic());
    this.#publish(connection, watched);
    if (!watched.breaker.isOpen) return null;
    const { samples = null, bad = null } = watched.breaker.openedBy ?? {};
    return { since: new Date(watched.since).toISOString(), samples, bad, probeDue: watched.breaker.isProbeDue(monotonic()) };
  }

  /** The same for a payment that is only imagined: nothing is judged or written. */
  look(_accountId: string, connection: Pick<OpenConnection, 'id' | 'degradedAt'>): OpenBreaker | null {
    const known = this.#watched.peek(connection.id);
    const since = known ? known.since : connection.degradedAt;
    if (since === null || (known && !known.breaker.isOpen)) return null;
    const { samples = null, bad = null } = known?.breaker.openedBy ?? {};
    return { since: new Date(since).toISOString(), samples, bad, probeDue: known?.breaker.isProbeDue(monotonic()) ?? false };
  }

  /** By public id of each connection that this process watches: 1 while it is set aside, else 0. */
  get states(): [string, number][] {
    return [...this.#watched.entries()].map(([id, { breaker }]) => [publicId('processor', this.#options.environment, id), breaker.isOpen ? 1 : 0]);
  }

  /** A payment went elsewhere because the connection is set aside. */
  passBy(connectionId: string): void {
    this.#watched.get(connectionId)?.breaker.passBy();
  }

  /** Runs a call that takes money, and takes note of how it went. */
  async watch<T extends { outcomeClass: OutcomeClass }>(accountId: string, connection: OpenConnection, call: () => Promise<T>): Promise<T> {
    const watched = this.#of(accountId, connection);
    const { breaker } = watched;
    const running = breaker.begin(monotonic());
    let outcomeClass: OutcomeClass = 'unknown';
    try {
      const answer = await call();
      ({ outcomeClass } = answer);
      return answer;
    } finally {
      breaker.end(running, outcomeClass, monotonic());
      this.#publish(connection, watched);
    }
  }

  #of(accountId: string, connection: OpenConnection): Watched {
    const known = this.#watched.get(connection.id);
    if (known && (known.writing || connection.version <= known.version)) return known;
    const watched = this.#fresh(accountId, connection);
    this.#watched.set(connection.id, watched);
    return watched;
  }

  /** As the row says: another process, or one before a restart, has opened or closed it, or the connection was changed. */
  #fresh(accountId: string, { version, degradedAt, deadlines }: OpenConnection): Watched {
    const breaker = new Breaker({ ...this.#settings, slowMs: Math.min(this.#settings.slowMs, deadlines.totalMs / 2) });
    if (degradedAt !== null) breaker.open(monotonic());
    const told = degradedAt === null ? 'closed' : 'open';
    return { breaker, accountId, since: degradedAt ?? 0, version, told, writing: false, writeFrom: 0 };
  }

  /** Tells the row, once, when the breaker stands otherwise than the row says; tried again with the next payment if it fails. */
  #publish(connection: OpenConnection, watched: Watched): void {
    const state = watched.breaker.isOpen ? 'open' : 'closed';
    if (watched.writing || watched.told === state || monotonic() < watched.writeFrom) return;
    if (state === 'open') watched.since = Date.now();
    watched.writing = true;
    this.#write(connection, watched, state)
      .then((version) => {
        watched.told = state;
        watched.version = Math.max(watched.version, version);
      })
      .catch((error: unknown) => {
        watched.writeFrom = monotonic() + writeAgainMs;
        this.#options.warn('connection health not written', { processor: connection.publicId, error: String(error) });
      })
      .finally(() => {
        watched.writing = false;
      });
  }

  #write(connection: OpenConnection, watched: Watched, state: 'open' | 'closed'): Promise<number> {
    const { db, environment } = this.#options;
    const origin = { actor: 'system', requestId: null, idempotencyKey: null, clockTime: null };
    const change = { ...origin, accountId: watched.accountId, environment, commandId: newId() };
    const count = watched.breaker.openedBy;
    return transact(db, change, (tx) =>
      state === 'open' ? markDegraded(tx, change, { id: connection.id, count, at: new Date(watched.since) }) : markRecovered(tx, change, { id: connection.id, at: new Date() }),
    );
  }
}

/** For the metrics of a process: 1 while it sets the connection aside, else 0. */
export function breakerGauge(breakers: Breakers) {
  return {
    name: 'signalbox_processor_set_aside',
    help: '1 while the breaker of a connection is open in this process, else 0',
    label: 'processor_id',
    read: () => breakers.states,
  } as const;
}

function monotonic(): number {
  return performance.now();
}
