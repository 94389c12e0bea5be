import type { Environment } from '../domain/environment.js';
import type { IntentStatus } from '../domain/payment/payment-status.js';
import { publicId } from './ids.js';
import { publishedProcessorName } from './processor-name.js';

export interface PaymentIntentFields {
  id: string;
  accountId: string;
  customerId: string | null;
  amountAtom: number;
  amountCapturableAtom: number;
  amountReceivedAtom: number;
  amountRefundedAtom: number;
  currency: string;
  status: IntentStatus;
  captureMethod: string;
  initiator: 'customer' | 'merchant';
  paymentMethodId: string | null;
  paymentRouteId: string | null;
  invoiceId: string | null;
  subscriptionId: string | null;
  paymentLinkId: string | null;
  description: string | null;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  returnUrl: string | null;
  redirectUrl: string | null;
  declineCode: string | null;
  declineReason: string | null;
  execution: string;
  stoppedAt: Date | null;
  stoppedBy: string[] | null;
  lastRefundAt: Date | null;
  canceledAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What the view shows of rows around the intent. */
export interface PaymentIntentParts {
  /** UUIDs, oldest first. */
  chargeIds: string[];
  refundIds: string[];
  /** The latest attempt's connection and its id there. */
  processorKind: string | null;
  processorPaymentId: string | null;
}

/** Amounts in atoms of `currency`; times RFC 3339 UTC. `invoice` is null unless expanded. */
export function paymentIntentView(row: PaymentIntentFields, parts: PaymentIntentParts, environment: Environment) {
  const id = (kind: Parameters<typeof publicId>[0], uuid: string | null) => (uuid ? publicId(kind, environment, uuid) : null);
  return {
    id: publicId('pi', environment, row.id),
    object: 'payment_intent',
    account_id: publicId('acct', environment, row.accountId),
    amount_atom: row.amountAtom,
    amount_atom_capturable: row.amountCapturableAtom,
    amount_atom_received: row.amountReceivedAtom,
    amount_atom_refunded: row.amountRefundedAtom,
    currency: row.currency,
    status: row.status,
    capture_method: row.captureMethod,
    off_session: row.initiator === 'merchant',
    customer_id: id('cus', row.customerId) ?? '',
    payment_method_id: id('pm', row.paymentMethodId),
    payment_route_id: id('route', row.paymentRouteId),
    invoice: null,
    invoice_id: id('inv', row.invoiceId),
    invoice_payment_provider_type_fee: row.invoiceId ? 0 : null,
    subscription_id: id('sub', row.subscriptionId),
    payment_link_id: id('plink', row.paymentLinkId),
    charge_ids: parts.chargeIds.map((uuid) => publicId('ch', environment, uuid)),
    refund_ids: parts.refundIds.map((uuid) => publicId('re', environment, uuid)),
    last_refund_date: row.lastRefundAt?.toISOString() ?? null,
    decline_code: row.declineCode,
    decline_reason: row.declineReason,
    payment_processor_name: parts.processorKind ? publishedProcessorName(parts.processorKind) : null,
    processor_payment_intent_id: parts.processorPaymentId,
    next_action: row.status === 'requires_action' && row.redirectUrl ? { type: 'redirect', redirect_url: row.redirectUrl } : null,
    return_url: row.returnUrl,
    description: row.description,
    execution: row.execution,
    charging_stopped: row.stoppedAt
      ? { since: row.stoppedAt.toISOString(), charge_stop_ids: (row.stoppedBy ?? []).map((uuid) => publicId('stop', environment, uuid)) }
      : null,
    custom_fields: row.customFields,
    metadata: row.metadata,
    canceled_at: row.canceledAt?.toISOString() ?? null,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type PaymentIntentView = ReturnType<typeof paymentIntentView>;
