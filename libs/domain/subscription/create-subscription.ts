import { DomainError, invalidField } from '../../errors/domain-error.js';
import { startOfSecond } from '../period/period.js';
import { planStart } from './begin-subscription.js';
import { chargesAutomatically, plan, type Facts, type Plan } from './plan.js';
import { moved } from './subscription.machine.js';
import type { DunningPolicy } from './dunning-policy.js';
import { firstPeriod, type SubscriptionState } from './subscription.state.js';

/** A checked request. Ids are UUIDs; `trialDays` is already the request's or the price's. */
export interface NewSubscription {
  id: string;
  currency: string;
  billingInterval: SubscriptionState['billingInterval'];
  billingIntervalCount: number;
  startsAt: Date | null;
  trialEnd: Date | null;
  trialDays: number;
  missingPaymentMethod: 'pause' | 'cancel';
  collectionMethod: SubscriptionState['collectionMethod'];
  netD: number | null;
  description: string | null;
  customFields: Record<string, unknown> | null;
  defaultPaymentMethodId: string | null;
  paymentRouteId: string | null;
  cancelAtEnd: boolean;
  totalBillingCycles: number | null;
  /** The first invoice waits to be paid by hand. */
  skipInvoicePayment?: boolean;
  /** Null or absent: the account's. */
  dunningPolicy?: DunningPolicy | null;
}

const dayMs = 86_400_000;

/**
 * A new subscription: scheduled, in its trial, or with its first invoice due now.
 * @throws DomainError 422 for a trial that ends before it begins, and `payment_method_required` when money is due now.
 */
export function planCreate(input: NewSubscription, facts: Facts): Plan {
  const now = startOfSecond(facts.now);
  const initialStart = input.startsAt && input.startsAt > now ? input.startsAt : now;
  const trialEnd = trialEndOf(input, initialStart);
  const base: SubscriptionState = {
    ...blank,
    ...pick(input),
    anchorAt: input.startsAt ?? trialEnd ?? initialStart,
    currentPeriodStart: initialStart,
    currentPeriodEnd: trialEnd ?? initialStart,
    initialStart,
    startsAt: input.startsAt,
    trialStart: trialEnd ? initialStart : null,
    trialEnd,
    upcomingDays: facts.rules.upcomingDays,
  };
  const scheduled = initialStart > now;
  if (input.skipInvoicePayment && (scheduled || trialEnd)) throw invalidField('skip_invoice_payment', 'The first invoice is not made now, so there is no payment to skip');
  if (trialEnd) {
    const next: SubscriptionState = { ...base, billingStatus: scheduled ? 'scheduled' : 'current' };
    return plan(created(next), scheduled ? ['created'] : ['created', 'trialing']);
  }
  const period = firstPeriod(base, initialStart);
  const pending: SubscriptionState = { ...base, billingStatus: 'scheduled', anchorAt: period.anchorAt, currentPeriodEnd: period.end };
  if (scheduled) return plan(created(pending), ['created']);
  const started = planStart(created(pending), { ...facts, now });
  const events: Plan['events'] = ['created', ...started.events.filter((event) => event !== 'updated')];
  if (!chargesAutomatically(base) || (started.invoice?.dueAtom ?? 0) === 0) return { ...started, events };
  if (input.skipInvoicePayment) return { ...started, next: { ...started.next, chargeAt: null }, events };
  if (!facts.paymentMethodId) throw new DomainError('payment_method_required');
  return { ...started, events };
}

function created(next: SubscriptionState): SubscriptionState {
  return moved('none', 'create', next);
}

function trialEndOf(input: NewSubscription, start: Date): Date | null {
  if (input.trialEnd) {
    if (input.trialEnd <= start) throw invalidField('trial_end', 'must be after the start');
    return input.trialEnd;
  }
  return input.trialDays > 0 ? new Date(start.getTime() + input.trialDays * dayMs) : null;
}

function pick(input: NewSubscription) {
  const { startsAt: _s, trialEnd: _e, trialDays: _d, skipInvoicePayment: _k, dunningPolicy, ...rest } = input;
  return { ...rest, dunningPolicy: dunningPolicy ?? null };
}

const blank = {
  status: 'trialing',
  billingStatus: 'scheduled',
  periodIndex: 0,
  trialWillEndSentAt: null,
  cancelledAt: null,
  cancellationDetails: null,
  cancelOptions: null,
  pauseAtEnd: false,
  pauseForCycles: null,
  pausedAt: null,
  resumesAt: null,
  keptTime: null,
  resuming: false,
  dunning: null,
  chargeAt: null,
  chargingInvoiceId: null,
  chargedMethodId: null,
  lastChargeAt: null,
  completedCycles: 0,
  upcomingSentFor: null,
  remindAt: null,
} as const;
