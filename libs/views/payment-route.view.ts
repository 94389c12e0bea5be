import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface PaymentRouteFields {
  id: string;
  accountId: string;
  name: string;
  execution: 'workflow' | 'inline' | null;
  liveVersion: number | null;
  latestVersion: number;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** `document` is the live version's; before the first publication the latest draft's. */
export function paymentRouteView(row: PaymentRouteFields, document: unknown, environment: Environment) {
  return {
    id: publicId('route', environment, row.id),
    object: 'payment_route',
    account_id: publicId('acct', environment, row.accountId),
    name: row.name,
    route_type: 'cit_mit_processors',
    route_config: document,
    execution: row.execution,
    live_version: row.liveVersion,
    latest_version: row.latestVersion,
    is_deleted: row.deletedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export interface PaymentRouteVersionFields {
  number: number;
  document: unknown;
  createdBy: string | null;
  createdAt: Date;
}

export function paymentRouteVersionView(row: PaymentRouteVersionFields, liveVersion: number | null) {
  return {
    version: row.number,
    is_live: row.number === liveVersion,
    route_config: row.document,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
  };
}

export type PaymentRouteView = ReturnType<typeof paymentRouteView>;
