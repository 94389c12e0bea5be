import type { Db } from '../db/client.js';
import type { SecretBox } from '../db/secret.js';
import type { Environment } from '../domain/environment.js';
import { lookupOffsets } from '../domain/payment/payment.schedule.js';
import type { Connection } from '../processors/port.js';
import { createProcessorRegistry, type ProcessorRegistry } from '../processors/registry.js';
import type { BreakerSettings } from '../domain/route/breaker.js';
import { Breakers } from './breakers.js';
import { ConnectionCache } from './connection-cache.js';
import { FollowUpLimit } from './follow-up-limit.js';
import { LeaseKeeper } from './lease-keeper.js';

/** What moving money needs. Composed once per process by `createPaymentDeps`, in apps/worker and apps/api. */
export interface PaymentDeps {
  db: Db;
  environment: Environment;
  secrets: SecretBox;
  processors: ProcessorRegistry;
  connections: ConnectionCache;
  leases: LeaseKeeper;
  breakers: Breakers;
  followUps: FollowUpLimit;
  /** When unresolved attempts are looked up, in milliseconds from when they became unresolved. */
  lookupOffsets: readonly number[];
  /** Where processors post what they learn later; null: they are asked by lookup only. */
  callbackUrlFor: (connection: Pick<Connection, 'publicId' | 'kind'>) => string | null;
  /** Told of what is not the caller's business: a lost lease, a failing renewal. */
  warn: (message: string, details: Record<string, unknown>) => void;
}

export interface PaymentDepsOptions {
  db: Db;
  environment: Environment;
  secrets: SecretBox;
  /** Base address of the simulator; null where there is none. */
  simulatorUrl: string | null;
  simulatorSecret?: Buffer | null;
  /** One machine runs everything: processors of staging may stand on loopback addresses. */
  local?: boolean;
  /** Names the process in `lease_owner`. */
  owner: string;
  /** Default: `breakerDefaults`. */
  breaker?: Partial<BreakerSettings>;
  /** Repeats and look-ups of this process that may be under way at one connection. Default: 100. */
  followUpsAtOnce?: number;
  /** Default: the published schedule. */
  lookupOffsets?: readonly number[];
  /** Base addresses of the API that takes callbacks: for everybody, and for the simulator, which runs on the same machine. */
  callbacksTo?: { publicUrl: string; localUrl: string };
  warn?: PaymentDeps['warn'];
}

export function createPaymentDeps(options: PaymentDepsOptions): PaymentDeps {
  const warn = options.warn ?? (() => undefined);
  return {
    db: options.db,
    environment: options.environment,
    secrets: options.secrets,
    processors: createProcessorRegistry(options.environment, options),
    connections: new ConnectionCache(options),
    leases: new LeaseKeeper(options.db, { owner: options.owner, warn }),
    breakers: new Breakers({ db: options.db, environment: options.environment, settings: options.breaker, warn }),
    followUps: new FollowUpLimit(options.followUpsAtOnce ?? 100),
    lookupOffsets: options.lookupOffsets ?? lookupOffsets,
    callbackUrlFor: ({ publicId, kind }) => {
      const base = kind === 'simulator' ? options.callbacksTo?.localUrl : options.callbacksTo?.publicUrl;
      return base ? `${base}/callbacks/${publicId}` : null;
    },
    warn,
  };
}
