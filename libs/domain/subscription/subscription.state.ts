import { boundary, periodAt, secondsBetween, type Interval, type IntervalUnit } from '../period/period.js';
import type { DunningPolicy } from './dunning-policy.js';
import type { BillingStatus, SubscriptionStatus } from './subscription.machine.js';

/** Why no unattended retry follows: only another method, or the customer, helps. */
export type DunningBlock = 'hard_decline' | 'authentication_required' | 'risk_refused' | 'no_payment_method' | 'send_invoice';

/** One dunning run over all open invoices, the oldest first. Times are RFC 3339. */
export interface Dunning {
  startedAt: string;
  failures: number;
  blocked: DunningBlock | null;
  /** As it was when the run began. */
  policy?: DunningPolicy;
}

/**
 * What a pause keeps. `seconds` of the trial or paid period that were left (for a scheduled one: until its start); null
 * where the pause began at a period's end, so that resuming starts a new period. `owed`: resumes only when paid.
 */
export interface KeptTime {
  from: 'trialing' | 'active';
  seconds: number | null;
  owed?: boolean;
}

/** What the cancelling caller wanted, kept for an invoice whose payment was still unresolved then. */
export interface CancelOptions {
  cancelUnpaidInvoices: boolean;
  fullRefund: boolean;
  prorate: boolean;
}

/** Everything the rules read and change; the row of a subscription has these fields under the same names. */
export interface SubscriptionState {
  id: string;
  status: SubscriptionStatus;
  billingStatus: BillingStatus | null;
  currency: string;
  billingInterval: IntervalUnit;
  billingIntervalCount: number;
  /** Periods are anchor + n intervals; `periodIndex` is n of the boundary at or before the current period's start. */
  anchorAt: Date;
  periodIndex: number;
  currentPeriodStart: Date;
  currentPeriodEnd: Date;
  /** Creation, or the future `startsAt`. */
  initialStart: Date;
  /** As given; before `initialStart` it only sets the anchor. */
  startsAt: Date | null;
  trialStart: Date | null;
  trialEnd: Date | null;
  missingPaymentMethod: 'pause' | 'cancel';
  trialWillEndSentAt: Date | null;
  collectionMethod: 'charge_automatically' | 'send_invoice';
  netD: number | null;
  description: string | null;
  customFields: Record<string, unknown> | null;
  defaultPaymentMethodId: string | null;
  paymentRouteId: string | null;
  cancelAtEnd: boolean;
  cancelledAt: Date | null;
  cancellationDetails: Record<string, unknown> | null;
  cancelOptions: CancelOptions | null;
  pauseAtEnd: boolean;
  pauseForCycles: number | null;
  pausedAt: Date | null;
  resumesAt: Date | null;
  keptTime: KeptTime | null;
  resuming: boolean;
  dunning: Dunning | null;
  /** Null: the account's. */
  dunningPolicy: DunningPolicy | null;
  /** Days before a renewal at which it is announced, as the account had it when the period began; 0: never. */
  upcomingDays: number;
  /** End of the period whose renewal was announced. */
  upcomingSentFor: Date | null;
  /** `send_invoice`: when open invoices are looked at for a reminder. */
  remindAt: Date | null;
  chargeAt: Date | null;
  chargingInvoiceId: string | null;
  chargedMethodId: string | null;
  lastChargeAt: Date | null;
  totalBillingCycles: number | null;
  /** Periods begun and billed. */
  completedCycles: number;
}

export function intervalOf(s: Pick<SubscriptionState, 'billingInterval' | 'billingIntervalCount'>): Interval {
  return { unit: s.billingInterval, count: s.billingIntervalCount };
}

export function sameInterval(a: Interval, b: Interval): boolean {
  return a.unit === b.unit && a.count === b.count;
}

/** The current period is the trial itself. */
export function isInTrial(s: SubscriptionState): boolean {
  return s.trialEnd !== null && s.currentPeriodStart < s.trialEnd;
}

/** The agreed number of cycles has begun: the end of this one is the end. */
export function isLastCycle(s: SubscriptionState): boolean {
  return s.totalBillingCycles !== null && s.completedCycles >= s.totalBillingCycles;
}

/** A `starts_at` before creation fixed the anchor; else the first period sets it. */
export function hasFixedAnchor(s: SubscriptionState): boolean {
  return s.startsAt !== null && s.startsAt < s.initialStart;
}

/** It was created for a later start, so that nobody waited for its first payment. */
export function wasScheduled(s: SubscriptionState): boolean {
  return s.startsAt?.getTime() === s.initialStart.getTime();
}

export interface BilledPeriod {
  anchorAt: Date;
  periodIndex: number;
  start: Date;
  end: Date;
  /** Seconds billed, and seconds of the whole interval: they differ in a prorated period. */
  billedSeconds: number;
  wholeSeconds: number;
}

/** The period of the anchor's grid that holds `from`, cut to begin at `from`. */
export function periodFrom(anchorAt: Date, interval: Interval, from: Date): BilledPeriod {
  const grid = periodAt(anchorAt, interval, from);
  return {
    anchorAt,
    periodIndex: grid.index,
    start: from,
    end: grid.end,
    billedSeconds: secondsBetween(from, grid.end),
    wholeSeconds: secondsBetween(grid.start, grid.end),
  };
}

/** The first paid period begins at `from`; it sets the anchor unless `starts_at` fixed one. */
export function firstPeriod(s: SubscriptionState, from: Date): BilledPeriod {
  return periodFrom(hasFixedAnchor(s) ? s.anchorAt : from, intervalOf(s), from);
}

/** Where a pause of `cycles` that begins at the current period's end resumes by itself. */
export function resumptionAfter(s: SubscriptionState, cycles: number): Date {
  const from = s.currentPeriodEnd;
  const anchor = isInTrial(s) && !hasFixedAnchor(s) ? from : s.anchorAt;
  const { index } = periodAt(anchor, intervalOf(s), from);
  return boundary(anchor, intervalOf(s), index + cycles);
}
