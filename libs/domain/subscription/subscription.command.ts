import type { DunningPolicy } from './dunning-policy.js';
import { planCancel } from './cancel-subscription.js';
import { planChangeItems } from './change-items.js';
import type { ItemInput, ProrationBehavior } from './item-changes.js';
import { planPause } from './pause-subscription.js';
import type { Facts, Plan } from './plan.js';
import { planResume } from './resume-subscription.js';
import type { BillingStatus, SubscriptionStatus } from './subscription.machine.js';
import type { SubscriptionState } from './subscription.state.js';
import { planEndTrial, planUpdate } from './update-subscription.js';

/** All that a running subscription holds; everything else stands in its row. */
export interface SubscriptionRun {
  version: number;
  status: SubscriptionStatus;
  billingStatus: BillingStatus | null;
  /** RFC 3339; null: only a command or a payment moves it. */
  nextActionAt: string | null;
  /** The payment that was begun and has no outcome in the row yet; UUID and public id. */
  charging: { intentId: string; publicId: string } | null;
  /** Cancelled, and no payment is awaited. */
  ended: boolean;
  /** It lives on a test clock; a time in `nextActionAt` then means: now. */
  onClock?: boolean;
}

/** A checked request; times RFC 3339, ids UUIDs. */
export interface NewSubscriptionJson {
  id: string;
  customerId: string;
  items: { priceId: string; quantity: number; description: string | null; customFields: Record<string, unknown> | null }[];
  startsAt: string | null;
  trialEnd: string | null;
  trialPeriodDays: number | null;
  trialFromPrice: boolean;
  missingPaymentMethod: 'pause' | 'cancel';
  collectionMethod: 'charge_automatically' | 'send_invoice';
  netD: number | null;
  description: string | null;
  customFields: Record<string, unknown> | null;
  paymentMethodId: string | null;
  paymentRouteId: string | null;
  cancelAtEnd: boolean;
  totalBillingCycles: number | null;
  totalAmountAtom: number | null;
  /** The first invoice waits to be paid by hand. */
  skipInvoicePayment?: boolean;
  dunningPolicy?: DunningPolicy | null;
}

export type SubscriptionCommand =
  | { type: 'pause'; cycles?: number | null; resumesAt?: string | null }
  | { type: 'resume'; proration: 'create_prorations' | 'none' }
  | { type: 'cancel'; cancelUnpaidInvoices: boolean; fullRefund: boolean; prorate: boolean; details: Record<string, unknown> | null }
  | {
      type: 'update';
      description?: string | null;
      customFields?: Record<string, unknown> | null;
      paymentMethodId?: string | null;
      paymentRouteId?: string | null;
      cancelAtEnd?: boolean;
      dunningPolicy?: DunningPolicy | null;
      /** RFC 3339, or `now`. */
      trialEnd?: string;
      collectionMethod?: 'charge_automatically' | 'send_invoice';
      netD?: number | null;
      items?: ItemInput[];
      proration?: ProrationBehavior;
    }
  | { type: 'changeItems'; items: ItemInput[]; proration: ProrationBehavior }
  | { type: 'endTrial' };

/** What a command answers: the row is committed; `settled`: its payment has an outcome, or there is none. */
export interface CommandOutcome {
  run: SubscriptionRun;
  settled: boolean;
  creditAtom: number;
  refundAtom: number;
  /** UUID of the invoice that the command finalised. */
  invoiceId: string | null;
  /** UUIDs of lines that wait for the next invoice since. */
  pendingIds?: string[];
}


/** What the command does to the subscription now; null when nothing changes. @throws DomainError 409 or 422. */
export function planCommand(s: SubscriptionState, command: SubscriptionCommand, facts: Facts): Plan | null {
  switch (command.type) {
    case 'pause':
      return planPause(s, { cycles: command.cycles, resumesAt: instant(command.resumesAt) }, facts);
    case 'resume':
      return planResume(s, { automatic: false, proration: command.proration }, facts);
    case 'cancel':
      return planCancel(s, command, facts);
    case 'endTrial':
      return planEndTrial(s, facts);
    case 'changeItems':
      return planChangeItems(s, command, facts);
    case 'update': {
      const { type: _, paymentMethodId, trialEnd, ...fields } = command;
      const end = trialEnd === undefined || trialEnd === 'now' ? trialEnd : new Date(trialEnd);
      return planUpdate(s, { ...fields, defaultPaymentMethodId: paymentMethodId, trialEnd: end }, facts);
    }
  }
}

function instant(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}
