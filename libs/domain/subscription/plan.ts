import type { BillableItem, BillingReason, InvoiceDraft, InvoiceLine, ItemChange, PendingLine } from '../invoice/invoice.draft.js';
import { draftInvoice, turnOver } from '../invoice/invoice.draft.js';
import type { BilledLine } from '../invoice/proration.lines.js';
import type { InvoiceStatus } from '../invoice/invoice.machine.js';
import type { OutcomeClass } from '../payment/outcome.js';
import type { EmailWish } from '../email/email.js';
import type { DunningPolicy } from './dunning-policy.js';
import { intervalOf, sameInterval, type BilledPeriod, type SubscriptionState } from './subscription.state.js';

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
  billingReason?: BillingReason;
  /** What a negative total gave to the balance. */
  creditedAtom?: number;
  /** What credit that is not of its period paid of it: waiting lines, and unused time where a new interval began; read with `periodInvoices`. */
  broughtAtom?: number;
  /** It is for a period of the subscription, not for a change within one. */
  beginsPeriod?: boolean;
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
  /** The newest finalised invoice that began a period. */
  latestInvoice: InvoiceFacts | null;
  /** Lines that wait for the next invoice: the subscription's, and those of its customer in its currency. */
  pending: readonly PendingLine[];
  /** What was billed for each item up to the period's end and is not given back; read for commands that give money back. */
  billed: readonly BilledLine[];
  /** Paid invoices of the current period, oldest first; read with `billed`. */
  periodInvoices: readonly InvoiceFacts[];
  /** Prices that the command names. */
  prices: readonly ItemPrice[];
  /** The least amount that the account's connections can charge in this currency, in atoms. */
  minimumAtom: number;
}

/** The parts of an item that its price gives. */
export type ItemPrice = Pick<BillableItem, 'priceId' | 'productId' | 'name' | 'unitAmountAtom' | 'pricingModel' | 'transformQuantityDivideBy'> &
  Required<Pick<BillableItem, 'interval' | 'currency'>>;

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
  refunds: { invoiceId: string; amountAtom: number }[];
  attention: string | null;
  /** The renewal that is announced: `invoice.upcoming`. */
  upcoming: InvoiceDraft | null;
  /** Invoices of which the customer is reminded: `invoice.reminder`. */
  reminded: string[];
  emails: EmailWish[];
  items: ItemChange[];
  /** New lines for the next invoice. */
  pending: InvoiceLine[];
  /** UUIDs of pending lines that no invoice will take. */
  dropped: string[];
}

export function plan(next: SubscriptionState, events: SubscriptionEvent[] = [], rest: Partial<Omit<Plan, 'next' | 'events'>> = {}): Plan {
  const money = { invoice: null, closed: [], charge: null, creditAtom: 0, refunds: [] };
  return { next, events, ...money, attention: null, upcoming: null, reminded: [], emails: [], items: [], pending: [], dropped: [], ...rest };
}

/** Waiting lines that an invoice takes in now: a credit waits until what it gives back is paid. */
export function takenIn({ pending }: Pick<Facts, 'pending'>): PendingLine[] {
  return pending.filter((line) => line.isBacked);
}

/** The invoice of a new period: its items, and what has waited for it. */
export function invoiceFor(s: SubscriptionState, facts: Facts, period: BilledPeriod, billingReason: BillingReason): InvoiceDraft {
  const { items, turnover } = turnOver(facts.items);
  return draftOf(s, facts, { items, lines: takenIn(facts), turnover, period, billingReason });
}

type Drawn = Pick<Parameters<typeof draftInvoice>[0], 'items' | 'lines' | 'turnover' | 'period' | 'billingReason'>;

export function draftOf(s: SubscriptionState, facts: Facts, drawn: Drawn): InvoiceDraft {
  return draftInvoice({
    ...drawn,
    balanceAtom: facts.balanceAtom,
    minimumAtom: facts.minimumAtom,
    at: facts.now,
    netD: s.collectionMethod === 'send_invoice' ? (s.netD ?? 30) : 0,
    isInitialForTrial: drawn.billingReason === 'subscription_create' && s.trialStart !== null,
    collectible: s.billingStatus !== 'unpaid',
  });
}

/** The row before its next period begins at `at`, where the items of that period have another interval. */
export function intoNextInterval(s: SubscriptionState, facts: Facts, at: Date): SubscriptionState {
  const interval = turnOver(facts.items).items[0]?.interval;
  if (!interval || sameInterval(interval, intervalOf(s))) return s;
  return { ...s, billingInterval: interval.unit, billingIntervalCount: interval.count, anchorAt: at, periodIndex: 0 };
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
