import type { Environment } from '../domain/environment.js';
import { isEntitled } from '../domain/subscription/subscription.machine.js';
import type { SubscriptionState } from '../domain/subscription/subscription.state.js';
import { dunningPolicyView, dunningView } from './dunning.view.js';
import { publicId, type IdKind } from './ids.js';

export interface SubscriptionFields extends SubscriptionState {
  accountId: string;
  customerId: string;
  name: string;
  metadata: Record<string, unknown> | null;
  testClockId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * `status` is the lifecycle, `billing_status` whether money is owed, `entitled` whether service may be given. Times RFC 3339
 * UTC. `items` are the published subscription items.
 */
export function subscriptionView<I>(row: SubscriptionFields, items: I[], environment: Environment) {
  const id = (kind: IdKind, uuid: string | null) => (uuid ? publicId(kind, environment, uuid) : null);
  const time = (date: Date | null) => date?.toISOString() ?? null;
  const runs = row.status === 'active' || row.status === 'trialing';
  return {
    id: publicId('sub', environment, row.id),
    object: 'subscription',
    account_id: publicId('acct', environment, row.accountId),
    customer_id: publicId('cus', environment, row.customerId),
    name: row.name,
    description: row.description,
    status: row.status,
    billing_status: row.billingStatus,
    entitled: isEntitled(row),
    currency: row.currency,
    billing_interval: row.billingInterval,
    billing_interval_count: row.billingIntervalCount,
    collection_method: row.collectionMethod,
    net_d: row.netD,
    initial_start: row.initialStart.toISOString(),
    contract_start: row.initialStart.toISOString(),
    contract_auto_renew: row.totalBillingCycles === null,
    starts_at: time(row.startsAt),
    billing_anchor: row.anchorAt.toISOString(),
    current_period_start: row.currentPeriodStart.toISOString(),
    current_period_end: row.currentPeriodEnd.toISOString(),
    renews_at: runs && !row.cancelAtEnd && !row.pauseAtEnd ? row.currentPeriodEnd.toISOString() : null,
    trial_start: time(row.trialStart),
    trial_end: time(row.trialEnd),
    trial_settings: { missing_payment_method: row.missingPaymentMethod },
    default_payment_method_id: id('pm', row.defaultPaymentMethodId),
    payment_route_id: id('route', row.paymentRouteId),
    cancel_at_end: row.cancelAtEnd,
    cancelled_at: time(row.cancelledAt),
    cancellation_details: { comment: null, reason: null, ...withoutNull(row.cancellationDetails) },
    pause_at_end: row.pauseAtEnd,
    pause_for_cycles: row.pauseForCycles,
    paused_at: time(row.pausedAt),
    resumes_at: time(row.resumesAt),
    next_payment_attempt_at: time(row.chargeAt),
    dunning: row.dunning && dunningView(row, row.dunning),
    dunning_policy: row.dunningPolicy && dunningPolicyView(row.dunningPolicy),
    total_billing_cycles: row.totalBillingCycles,
    remaining_billing_cycles: row.totalBillingCycles === null ? null : Math.max(0, row.totalBillingCycles - row.completedCycles),
    checkout_session_id: null,
    subscription_items: items,
    custom_fields: row.customFields,
    metadata: row.metadata,
    test_clock_id: id('clock', row.testClockId),
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type SubscriptionView = ReturnType<typeof subscriptionView>;

function withoutNull(details: Record<string, unknown> | null): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details ?? {}).filter(([, value]) => value !== null));
}
