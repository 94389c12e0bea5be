import { LRUCache } from 'lru-cache';
import type { Db } from '../db/client.js';
import { accountProcessors } from '../db/payment-context.queries.js';
import type { SecretBox } from '../db/secret.js';
import type { PaymentProcessorRow } from '../db/schema/index.js';
import type { Environment } from '../domain/environment.js';
import type { Connection, Deadlines, ProcessorKind } from '../processors/port.js';
import { publicId } from '../views/ids.js';
import { openCredentials, validCredentials } from './rotate-credentials.js';

/** A connection with what routing must know of it. */
export interface OpenConnection extends Connection {
  name: string;
  enabled: boolean;
  /** Of the row. */
  version: number;
  /** Epoch milliseconds; when a breaker opened, null while it takes its share. */
  degradedAt: number | null;
}

interface CachedAccount {
  stamp: string;
  loadedAt: number;
  /** When the first of its replaced secrets ends, epoch milliseconds. */
  validUntil: number;
  byId: Map<string, OpenConnection>;
}

interface CacheOptions {
  db: Db;
  environment: Environment;
  secrets: SecretBox;
}

/** A call of a simulator may run as a local activity, so it ends within 7 s. */
const standardDeadlines: Record<ProcessorKind, Deadlines> = {
  simulator: { connectMs: 5_000, totalMs: 7_000 },
  stripe: { connectMs: 5_000, totalMs: 60_000 },
  http: { connectMs: 5_000, totalMs: 60_000 },
};

/** The row with its credentials opened. `settings.total_timeout_ms` and `connect_timeout_ms` shorten the deadlines. */
export function openConnection(row: PaymentProcessorRow, { secrets, environment }: Omit<CacheOptions, 'db'>): OpenConnection {
  const settings = row.settings ?? {};
  const standard = standardDeadlines[row.kind];
  return {
    id: row.id,
    publicId: publicId('processor', environment, row.id),
    name: row.name,
    kind: row.kind,
    settings,
    credentials: validCredentials(openCredentials(secrets, row), { overlapUntil: row.credentialsOverlapUntil, now: Date.now() }),
    deadlines: {
      connectMs: shortened(settings.connect_timeout_ms, standard.connectMs),
      totalMs: shortened(settings.total_timeout_ms, standard.totalMs),
    },
    enabled: row.isEnabled && row.deletedAt === null,
    version: row.version,
    degradedAt: row.degradedAt?.getTime() ?? null,
  };
}

function shortened(setting: unknown, standard: number): number {
  return typeof setting === 'number' && setting > 0 ? Math.min(setting, standard) : standard;
}

/** How old the connection of an earlier attempt may be. */
const freshMs = 2_000;

/** Opened connections per account. `stamp` comes with every payment's context, so a changed row is never used stale. */
export class ConnectionCache {
  readonly #options: CacheOptions;
  readonly #accounts = new LRUCache<string, CachedAccount>({ max: 1_000 });
  readonly #longest = new LRUCache<string, number>({ max: 10_000, ttl: 5_000 });

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** By row id. Deleted connections are included: their charges are still captured, refunded and looked up. */
  async ofAccount(accountId: string, stamp: string): Promise<ReadonlyMap<string, OpenConnection>> {
    const cached = this.#accounts.get(accountId);
    if (cached?.stamp === stamp && Date.now() < cached.validUntil) return cached.byId;
    const rows = await accountProcessors(this.#options.db, accountId);
    const byId = new Map(rows.map((row) => [row.id, openConnection(row, this.#options)]));
    const ends = rows.map((row) => row.credentialsOverlapUntil?.getTime() ?? 0).filter((end) => end > Date.now());
    this.#accounts.set(accountId, { stamp: stampOf(rows), byId, loadedAt: Date.now(), validUntil: Math.min(...ends) });
    return byId;
  }

  /** The longest deadline of the account's enabled connections, as of a few seconds ago: it only decides how a call is run. */
  async longestCallMs(accountId: string): Promise<number> {
    const known = this.#longest.get(accountId);
    if (known !== undefined) return known;
    const enabled = [...(await this.ofAccount(accountId, '')).values()].filter((connection) => connection.enabled);
    const longest = Math.max(0, ...enabled.map((connection) => connection.deadlines.totalMs));
    this.#longest.set(accountId, longest);
    return longest;
  }

  /** The connection of an earlier attempt; credentials at most a few seconds old. */
  async one(accountId: string, processorId: string): Promise<OpenConnection | null> {
    const cached = this.#accounts.get(accountId);
    const fresh = cached && Date.now() < Math.min(cached.validUntil, cached.loadedAt + freshMs) ? cached.byId : await this.ofAccount(accountId, '');
    return fresh.get(processorId) ?? null;
  }
}

function stampOf(rows: PaymentProcessorRow[]): string {
  return rows.map((row) => `${row.id}:${row.version}`).join(',');
}
