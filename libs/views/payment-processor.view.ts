import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';
import { publishedProcessorName } from './processor-name.js';

export interface PaymentProcessorFields {
  id: string;
  accountId: string;
  name: string;
  kind: string;
  settings: Record<string, unknown> | null;
  credentialsSealed: string | null;
  credentialsOverlapUntil: Date | null;
  isEnabled: boolean;
  degradedAt: Date | null;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A connection. Its credentials are never shown, only whether there are any. */
export function paymentProcessorView(row: PaymentProcessorFields, environment: Environment) {
  return {
    id: publicId('processor', environment, row.id),
    object: 'payment_processor',
    account_id: publicId('acct', environment, row.accountId),
    name: row.name,
    kind: row.kind,
    processor_name: publishedProcessorName(row.kind),
    settings: row.settings ?? {},
    has_credentials: row.credentialsSealed !== null,
    credentials_overlap_until: row.credentialsOverlapUntil?.toISOString() ?? null,
    is_enabled: row.isEnabled,
    degraded_at: row.degradedAt?.toISOString() ?? null,
    is_deleted: row.deletedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** How its calls go: of the last five minutes, so far as the account's latest attempts tell. */
export function processorHealthView(row: Pick<PaymentProcessorFields, 'degradedAt'>, { samples, bad }: { samples: number; bad: number }) {
  return {
    status: row.degradedAt ? ('degraded' as const) : ('ok' as const),
    since: row.degradedAt?.toISOString() ?? null,
    error_rate: samples === 0 ? null : Math.round((bad / samples) * 1_000) / 1_000,
    samples,
  };
}

export type PaymentProcessorView = ReturnType<typeof paymentProcessorView>;
