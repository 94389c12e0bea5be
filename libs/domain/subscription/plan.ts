import type { BillableItem, BillingReason, InvoiceDraft } from '../invoice/invoice.draft.js';
import { draftInvoice } from '../invoice/invoice.draft.js';
import type { InvoiceStatus } from '../invoice/invoice.machine.js';
import type { OutcomeClass } from '../payment/outcome.js';
import type { EmailWish } from '../email/email.js';
import type { DunningPolicy } from './dunning-policy.js';
import type { BilledPeriod, SubscriptionState } from './subscription.state.js';

/** Where the payment of an invoice stands. `action`: the customer must confirm it; `at_rest`: refused, may be asked again. */
export type PaymentStanding = 'none' | 'unresolved' | 'action' | 'at_rest' | 'succeeded';

export interface InvoiceFacts {
  id: string;
  status: InvoiceStatus;
  periodStart: Date;
  periodEnd: Date;
  dueDate: Date;
  totalAtom: number;
  dueAtom: number;
  paidAtom: number;
  refundedAtom: number;
  /** The money did not come through a processor, so it cannot go back through one. */
  paidOutOfBand?: boolean;
  payment: PaymentStanding;
  failure: OutcomeClass | null;
  finalizedAt?: Date | null;
  reminderSentAt?: Date | null;
}

/** What the account has settled for all its subscriptions. */
export interface BillingRules {
  dunningPolicy: DunningPolicy;
  /** Days before a renewal at which it is announced; 0: never. */
  upcomingDays: number;
}

/** What a plan needs beside the row; read in the transaction that writes the plan. */
export interface Facts {
  now: Date;
  /** Spreads renewals' charges: hash(id) mod the configured seconds. */
  jitterSeconds: number;
  rules: BillingRules;
  items: readonly BillableItem[];
  /** The method that an unattended charge would use: the subscription's, else the customer's default. */
  paymentMethodId: string | null;
  /** The customer's credit in the subscription's currency, positive. */
  balanceAtom: number;
  /** Open and past due, oldest first. */
  openInvoices: readonly InvoiceFacts[];
  /** The invoice of `chargingInvoiceId`, whatever its status. */
  charging: InvoiceFacts | null;
  /** The newest finalised invoice. */
  latestInvoice: InvoiceFacts | null;
}

export type SubscriptionEvent =
  | 'created'
  | 'trialing'
  | 'activated'
  | 'updated'
  | 'paused'
  | 'resumed'
  | 'resume_failed'
  | 'past_due'
  | 'canceled'
  | 'unpaid'
  | 'dunning_started'
  | 'dunning_retry_scheduled'
  | 'dunning_blocked'
  | 'dunning_recovered'
  | 'dunning_ended'
  | 'trial_will_end';

/** One fact: what the transaction writes, and what a preview shows. */
export interface Plan {
  next: SubscriptionState;
  /** Each becomes `customer.subscription.<name>`. */
  events: SubscriptionEvent[];
  invoice: InvoiceDraft | null;
  closed: { invoiceId: string; as: 'void' | 'uncollectible' | 'past_due'; message?: string }[];
  /** An unattended payment of this invoice begins with the transaction. */
  charge: { invoiceId: string; paymentMethodId: string } | null;
  creditAtom: number;
  refund: { invoiceId: string; amountAtom: number } | null;
  attention: string | null;
  /** The renewal that is announced: `invoice.upcoming`. */
  upcoming: InvoiceDraft | null;
  /** Invoices of which the customer is reminded: `invoice.reminder`. */
  reminded: string[];
  emails: EmailWish[];
}

export function plan(next: SubscriptionState, events: SubscriptionEvent[] = [], rest: Partial<Omit<Plan, 'next' | 'events'>> = {}): Plan {
  return { next, events, invoice: null, closed: [], charge: null, creditAtom: 0, refund: null, attention: null, upcoming: null, reminded: [], emails: [], ...rest };
}

export function invoiceFor(s: SubscriptionState, facts: Facts, period: BilledPeriod, billingReason: BillingReason): InvoiceDraft {
  return draftInvoice({
    items: facts.items,
    billingReason,
    period,
    balanceAtom: facts.balanceAtom,
    at: facts.now,
    netD: s.collectionMethod === 'send_invoice' ? (s.netD ?? 30) : 0,
    isInitialForTrial: billingReason === 'subscription_create' && s.trialStart !== null,
    collectible: s.billingStatus !== 'unpaid',
  });
}

/** The row after a period has begun. */
export function enterPeriod(s: SubscriptionState, period: BilledPeriod): SubscriptionState {
  return {
    ...s,
    anchorAt: period.anchorAt,
    periodIndex: period.periodIndex,
    currentPeriodStart: period.start,
    currentPeriodEnd: period.end,
    completedCycles: s.completedCycles + 1,
  };
}

export function chargesAutomatically(s: SubscriptionState): boolean {
  return s.collectionMethod === 'charge_automatically';
}
