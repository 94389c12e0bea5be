import type { InvoiceLine } from '../invoice/invoice.draft.js';
import { isBacked } from '../invoice/proration.lines.js';
import { itemsAfter } from './item-changes.js';
import type { Facts, InvoiceFacts, Plan } from './plan.js';
import { planStep } from './step-subscription.js';
import type { SubscriptionState } from './subscription.state.js';

/** Where the plan leads if the payment that it begins is taken at once. */
export function assumePaid({ next, invoice }: Plan, facts: Facts): SubscriptionState {
  if (!invoice || invoice.status !== 'open' || !next.chargeAt || next.chargeAt > facts.now) return next;
  const paid: InvoiceFacts = {
    id: 'preview',
    status: 'paid',
    periodStart: invoice.periodStart,
    periodEnd: invoice.periodEnd,
    dueDate: invoice.dueDate,
    totalAtom: invoice.totalAtom,
    dueAtom: invoice.dueAtom,
    paidAtom: invoice.dueAtom,
    refundedAtom: 0,
    payment: 'succeeded',
    failure: null,
  };
  return planStep(next, { ...facts, openInvoices: [], charging: null, latestInvoice: paid })?.next ?? next;
}

/** What the next plan would read if this one were written. */
export function factsAfter({ items, pending, dropped, creditAtom, invoice }: Plan, facts: Facts): Facts {
  const debitOf = ({ debitItemId }: InvoiceLine) => facts.billed.find(({ id }) => id === debitItemId);
  const taken = [...dropped, ...(invoice?.lines ?? []).flatMap(({ pendingId }) => pendingId ?? [])];
  const waiting = invoice?.carried ? [...pending, invoice.carried] : pending;
  return {
    ...facts,
    items: itemsAfter(itemsAfter(facts.items, items), invoice?.turnover ?? []),
    pending: [
      ...facts.pending.filter(({ pendingId }) => !taken.includes(pendingId)),
      ...waiting.map((line, index) => ({
        ...line, pendingId: `preview-${index}`, isOwn: true, isBacked: isBacked(line, facts.billed), debitInvoiceId: debitOf(line)?.invoice?.id ?? null,
      })),
    ],
    balanceAtom: facts.balanceAtom + creditAtom + (invoice ? invoice.creditedAtom - invoice.appliedBalanceAtom : 0),
  };
}
