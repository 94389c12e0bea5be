import type { EmailFacts, EmailKind } from '../domain/email/email.js';
import { formatAmount } from '../domain/money.js';

/** What the words may name; dates and amounts as people read them, null or false where there are none. */
export interface EmailModel {
  kind: EmailKind;
  language: string | null;
  account: string;
  customer: string | null;
  number: string | null;
  total: string | null;
  paid: string | null;
  remaining: string | null;
  isDue: boolean;
  isPaid: boolean;
  overdue: boolean;
  dueOn: string | null;
  paidOn: string | null;
  lines: { name: string; quantity: number; amount: string }[];
  subscription: string | null;
  interval: string | null;
  next: string | null;
  nextAttempt: string | null;
  trialEndsOn: string | null;
  cancelled: boolean;
  paused: boolean;
  /** The hosted page of the invoice. */
  link: string | null;
}

/** `at` is when the mail is rendered. */
export function emailModel(facts: EmailFacts, { kind, link, at }: { kind: EmailKind; link: string | null; at: Date }): EmailModel {
  const { invoice, subscription, told } = facts;
  return {
    kind,
    language: facts.customer.language,
    account: facts.accountName,
    customer: facts.customer.name,
    ...invoiceModel(invoice, at),
    subscription: subscription?.name ?? null,
    interval: subscription && intervalName(subscription.interval, subscription.intervalCount),
    next: subscription?.nextTotalAtom == null ? null : formatAmount(subscription.nextTotalAtom, subscription.currency),
    nextAttempt: told.nextAttemptAt !== null && new Date(told.nextAttemptAt) > at ? dateName(told.nextAttemptAt) : null,
    trialEndsOn: dateName(told.trialEnd ?? subscription?.trialEnd ?? null),
    cancelled: told.status === 'cancelled',
    paused: told.status === 'paused',
    link,
  };
}

type InvoiceModel = Pick<EmailModel, 'number' | 'total' | 'paid' | 'remaining' | 'isDue' | 'isPaid' | 'overdue' | 'dueOn' | 'paidOn' | 'lines'>;

function invoiceModel(invoice: EmailFacts['invoice'], at: Date): InvoiceModel {
  if (!invoice) return { number: null, total: null, paid: null, remaining: null, isDue: false, isPaid: false, overdue: false, dueOn: null, paidOn: null, lines: [] };
  const amount = (atom: number) => formatAmount(atom, invoice.currency);
  const owed = Math.max(0, invoice.dueAtom - invoice.paidAtom);
  const isDue = (invoice.status === 'open' || invoice.status === 'past_due') && owed > 0;
  return {
    number: invoice.number === null ? null : String(invoice.number),
    total: amount(invoice.totalAtom),
    paid: amount(invoice.paidAtom),
    remaining: amount(owed),
    isDue,
    isPaid: invoice.status === 'paid',
    overdue: isDue && invoice.dueDate < at,
    dueOn: dateName(invoice.dueDate),
    paidOn: dateName(invoice.paidAt),
    lines: invoice.lines.map((line) => ({ name: line.name, quantity: line.quantity, amount: amount(line.amountAtom) })),
  };
}

const dates = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

function dateName(at: Date | string | null): string | null {
  return at === null ? null : dates.format(new Date(at));
}

function intervalName(unit: string, count: number): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}
