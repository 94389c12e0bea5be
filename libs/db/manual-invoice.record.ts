import { carry } from '../domain/invoice/invoice.draft.js';
import { dueDateOf, planFinalisation, type Finalisation, type FinalisationFacts } from '../domain/invoice/invoice.finalisation.js';
import { invalidField } from '../errors/domain-error.js';
import type { ManualInvoice, ResolvedInvoice, SoldOnce } from './manual-invoice.queries.js';
import { newId } from './mint.js';
import { lineRow } from './pending-line.writes.js';
import type { InvoiceItemRow, InvoiceRow } from './schema/index.js';

export interface DraftedInvoice {
  row: InvoiceRow;
  /** Lines that are new with it. */
  added: InvoiceItemRow[];
  /** Lines that were pending, as they stand on it. */
  taken: InvoiceItemRow[];
}

/** The draft that a wish makes: what a preview shows and a write stores. @throws DomainError 422 for a total no number holds. */
export function draftedInvoice(accountId: string, wish: ManualInvoice, resolved: ResolvedInvoice, at: Date): DraftedInvoice {
  const added = resolved.sold.map((sold) => ({ ...soldLine(accountId, wish, sold, at), invoiceId: wish.id }));
  const taken = resolved.pending.map((line) => ({ ...line, invoiceId: wish.id, version: line.version + 1, updatedAt: at }));
  const lines = [...taken, ...added];
  const totalAtom = totalOf(lines);
  if (!Number.isSafeInteger(totalAtom)) throw invalidField('selected_product_price_quantity', 'The total exceeds 2^53 - 1 atoms');
  const { collectionMethod } = wish;
  const row: InvoiceRow = {
    ...blank,
    id: wish.id,
    accountId,
    customerId: wish.customerId,
    subscriptionId: wish.subscriptionId,
    collectionMethod,
    currency: resolved.currency,
    totalAtom,
    dueAtom: Math.max(totalAtom, 0),
    periodStart: new Date(Math.min(...lines.map((line) => line.periodStart.getTime()))),
    periodEnd: new Date(Math.max(...lines.map((line) => line.periodEnd.getTime()))),
    dueDate: dueDateOf({ collectionMethod, netD: resolved.netD }, at),
    netD: resolved.netD,
    defaultPaymentMethodId: wish.paymentMethodId,
    emailOnFinalization: wish.emailOnFinalization,
    description: wish.description,
    customFields: wish.customFields,
    createdAt: at,
    updatedAt: at,
  };
  return { row, added, taken };
}

export function totalOf(lines: readonly Pick<InvoiceItemRow, 'amountAtom'>[]): number {
  return lines.reduce((sum, { amountAtom }) => sum + amountAtom, 0);
}

export interface FinalisedInvoice {
  set: Omit<Finalisation, 'carriedAtom'>;
  /** What is carried: the line that takes it off, and the one that waits for the next invoice. */
  carried: { off: InvoiceItemRow; waiting: InvoiceItemRow } | null;
}

/** What becomes of a draft when it is finalised: what a preview shows and a write stores. */
export function finalisedInvoice(row: InvoiceRow, lines: readonly InvoiceItemRow[], facts: FinalisationFacts): FinalisedInvoice {
  const { carriedAtom, ...set } = planFinalisation(row, facts);
  const [first] = lines;
  if (carriedAtom === 0 || !first) return { set, carried: null };
  const { off, carried } = carry(first, carriedAtom, { start: row.periodStart, end: row.periodEnd });
  const owner = { ...row, id: row.subscriptionId ?? row.id };
  const lineOf = (line: typeof off, invoiceId: string | null) =>
    lineRow(owner, { ...line, isOwn: row.subscriptionId !== null, priceType: first.priceType }, { invoiceId, at: facts.at });
  return { set, carried: { off: lineOf(off, row.id), waiting: lineOf({ ...carried, carriedFromInvoiceId: row.id }, null) } };
}

/** A line of something sold once, on no invoice yet. */
export function soldLine(accountId: string, owner: Pick<ManualInvoice, 'customerId' | 'subscriptionId'>, sold: SoldOnce, at: Date): InvoiceItemRow {
  const { price, product, quantity, description, amountAtom } = sold;
  return {
    id: newId(),
    accountId,
    customerId: owner.customerId,
    invoiceId: null,
    subscriptionId: owner.subscriptionId,
    subscriptionItemId: null,
    priceId: price.id,
    productId: product.id,
    priceType: price.priceType,
    name: price.name ?? product.name,
    description,
    quantity,
    amountAtom,
    currency: price.currency,
    proration: false,
    debitItemId: null,
    carriedFromInvoiceId: null,
    deletedAt: null,
    periodStart: at,
    periodEnd: at,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

const blank = {
  periodKey: null,
  number: null,
  status: 'draft',
  billingReason: 'manual',
  appliedBalanceAtom: 0,
  paidAtom: 0,
  refundedAtom: 0,
  finalizedAt: null,
  paidAt: null,
  voidedAt: null,
  paidOutOfBand: false,
  isInitialForTrial: false,
  paymentIntentId: null,
  latestFailureMessage: null,
  creditedAtom: 0,
  reminderSentAt: null,
  comments: [],
  metadata: null,
  version: 1,
} satisfies Partial<InvoiceRow>;
