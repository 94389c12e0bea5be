import { mayRemind, policyInForce } from './dunning.js';
import { reminderOffsetsMs } from './dunning-policy.js';
import { plan, type Facts, type InvoiceFacts, type Plan } from './plan.js';
import type { SubscriptionState } from './subscription.state.js';

/** Sets the alarm for the next reminder of an open invoice; null when it is set already, or none follows. */
export function planReminders(s: SubscriptionState, facts: Facts): Plan | null {
  if (!mayRemind(s)) return null;
  const next = earliest(facts.openInvoices.map((invoice) => nextReminder(s, invoice, facts)));
  return next && (!s.remindAt || next < s.remindAt) ? plan({ ...s, remindAt: next }) : null;
}

/** One reminder of each open invoice that has one due, however many times have passed since the last. */
export function planRemind(s: SubscriptionState, facts: Facts): Plan {
  const due = facts.openInvoices.filter((invoice) => {
    const at = nextReminder(s, invoice, facts);
    return at !== null && at <= facts.now;
  });
  const after = facts.openInvoices.map((invoice) => nextReminder(s, due.includes(invoice) ? { ...invoice, reminderSentAt: facts.now } : invoice, facts));
  const reminded = due.map(({ id }) => id);
  const emails = reminded.map((invoiceId) => ({ kind: 'reminder' as const, invoiceId }));
  return plan({ ...s, remindAt: earliest(after) }, [], { reminded, emails });
}

/** The first of the policy's times after the invoice was finalised and after the last reminder. */
function nextReminder(s: SubscriptionState, invoice: InvoiceFacts, facts: Facts): Date | null {
  const last = Math.max(invoice.finalizedAt?.getTime() ?? 0, invoice.reminderSentAt?.getTime() ?? 0);
  const times = reminderOffsetsMs(policyInForce(s, facts)).map((ms) => invoice.dueDate.getTime() + ms);
  const next = times.find((time) => time > last);
  return next === undefined ? null : new Date(next);
}

function earliest(times: (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null).map((time) => time.getTime());
  return known.length === 0 ? null : new Date(Math.min(...known));
}
