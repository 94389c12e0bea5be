import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface AccountFacts {
  id: string;
  name: string;
  operatorRefundLimitAtom: number | null;
  defaultPaymentRouteId: string | null;
  execution: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The published object `account`. */
export function accountView(account: AccountFacts, environment: Environment) {
  return {
    id: publicId('acct', environment, account.id),
    object: 'account' as const,
    name: account.name,
    operator_refund_limit_atom: account.operatorRefundLimitAtom,
    default_payment_route_id: account.defaultPaymentRouteId && publicId('route', environment, account.defaultPaymentRouteId),
    execution: account.execution,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    is_deleted: false,
  };
}
