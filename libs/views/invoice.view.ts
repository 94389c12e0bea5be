import type { Environment } from '../domain/environment.js';
import { publicId, type IdKind } from './ids.js';

export interface InvoiceFields {
  id: string;
  accountId: string;
  customerId: string;
  subscriptionId: string | null;
  number: number | null;
  status: string;
  billingReason: string;
  collectionMethod: string;
  currency: string;
  totalAtom: number;
  appliedBalanceAtom: number;
  dueAtom: number;
  paidAtom: number;
  refundedAtom: number;
  periodStart: Date;
  periodEnd: Date;
  dueDate: Date;
  netD: number | null;
  finalizedAt: Date | null;
  paidAt: Date | null;
  voidedAt: Date | null;
  paidOutOfBand: boolean;
  reminderSentAt: Date | null;
  isInitialForTrial: boolean;
  paymentIntentId: string | null;
  defaultPaymentMethodId: string | null;
  latestFailureMessage: string | null;
  emailOnFinalization: boolean;
  /** What a negative total gave to the customer's credit, positive. */
  creditedAtom: number;
  description: string | null;
  comments: { comment: string; created_at: string; user_email: string | null }[];
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface InvoiceItemFields {
  id: string;
  accountId: string;
  customerId: string;
  invoiceId: string | null;
  subscriptionId: string | null;
  subscriptionItemId: string | null;
  priceId: string;
  productId: string;
  priceType: string;
  name: string;
  description: string | null;
  quantity: number;
  amountAtom: number;
  currency: string;
  proration: boolean;
  debitItemId: string | null;
  carriedFromInvoiceId: string | null;
  deletedAt: Date | null;
  periodStart: Date;
  periodEnd: Date;
  createdAt: Date;
  updatedAt: Date;
}

export interface InvoiceParts {
  lines: InvoiceItemFields[];
  /** Of the invoice's payment, oldest first. */
  refundIds: string[];
  /** Holds a credential: only in answers to the account, never in an event. */
  hostedUrl?: string | null;
}

/** Amounts in atoms; nothing remains of what is paid or void. */
export function invoiceAmounts(row: Pick<InvoiceFields, 'status' | 'totalAtom' | 'appliedBalanceAtom' | 'dueAtom' | 'paidAtom'>) {
  const closed = row.status === 'paid' || row.status === 'void';
  return {
    total_amount_atom: row.totalAtom,
    total_excluding_taxes_amount_atom: row.totalAtom,
    tax_amount_atom: 0,
    applied_balance_amount_atom: row.appliedBalanceAtom,
    due_amount_atom: row.dueAtom,
    paid_amount_atom: row.paidAtom,
    remaining_amount_atom: closed ? 0 : row.dueAtom - row.paidAtom,
  };
}

/** Amounts in atoms of `currency`; times RFC 3339 UTC. `invoice_number` is 0 until the invoice is finalised. */
export function invoiceView(row: InvoiceFields, parts: InvoiceParts, environment: Environment) {
  const id = (kind: IdKind, uuid: string | null) => (uuid ? publicId(kind, environment, uuid) : null);
  return {
    id: publicId('inv', environment, row.id),
    object: 'invoice',
    account_id: publicId('acct', environment, row.accountId),
    customer_id: publicId('cus', environment, row.customerId),
    subscription_id: id('sub', row.subscriptionId),
    invoice_number: row.number ?? 0,
    status: row.status,
    billing_reason: row.billingReason,
    collection_method: row.collectionMethod,
    currency: row.currency,
    ...invoiceAmounts(row),
    refunded_amount_atom: row.refundedAtom,
    provider_type_fee_amount_atom: 0,
    period_start: row.periodStart.toISOString(),
    period_end: row.periodEnd.toISOString(),
    due_date: row.dueDate.toISOString(),
    net_d: row.netD ?? -1,
    finalized_at: row.finalizedAt?.toISOString() ?? null,
    paid_at: row.paidAt?.toISOString() ?? null,
    voided_at: row.voidedAt?.toISOString() ?? null,
    paid_out_of_band: row.paidOutOfBand,
    reminder_sent_at: row.reminderSentAt?.toISOString() ?? null,
    is_initial_invoice_for_trial_sub: row.isInitialForTrial,
    latest_payment_intent_id: id('pi', row.paymentIntentId),
    latest_payment_attempt_failure_message: row.latestFailureMessage,
    default_payment_method_id: id('pm', row.defaultPaymentMethodId),
    refund_ids: parts.refundIds.map((uuid) => publicId('re', environment, uuid)),
    lines: parts.lines.map((line) => invoiceItemView(line, environment)),
    discounts: [],
    total_discount_amount_atoms: [],
    credit_note_ids: [],
    pre_payment_credit_notes_amount: 0,
    post_payment_credit_notes_amount: 0,
    customer_tax_ids: [],
    merchant_tax_ids: [],
    tax_processor_updated_at: null,
    email_invoice_on_finalization: row.emailOnFinalization,
    credited_amount_atom: row.creditedAtom,
    hosted_invoice_url: parts.hostedUrl ?? null,
    invoice_pdf_url: '',
    receipt_pdf_url: '',
    comments: row.comments,
    description: row.description,
    custom_fields: row.customFields,
    metadata: row.metadata,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** One line of an invoice. */
export function invoiceItemView(row: InvoiceItemFields, environment: Environment) {
  const id = (kind: IdKind, uuid: string | null) => (uuid ? publicId(kind, environment, uuid) : null);
  return {
    id: publicId('ii', environment, row.id),
    object: 'invoice_item',
    account_id: publicId('acct', environment, row.accountId),
    customer_id: publicId('cus', environment, row.customerId),
    invoice_id: id('inv', row.invoiceId),
    subscription_id: id('sub', row.subscriptionId),
    subscription_item_id: id('si', row.subscriptionItemId),
    subscription_item_description: row.description,
    subscription_cancelled_at: null,
    price_id: publicId('price', environment, row.priceId),
    product_id: publicId('product', environment, row.productId),
    price_type: row.priceType,
    name: row.name,
    description: row.description,
    quantity: row.quantity,
    amount_atom: row.amountAtom,
    amount_atom_considering_discount_applied: row.amountAtom,
    currency: row.currency,
    discount_amount_atoms: [],
    discounts: [],
    proration: row.proration,
    proration_details_debit_invoice_item: id('ii', row.debitItemId),
    carried_from_invoice_id: id('inv', row.carriedFromInvoiceId),
    period_start: row.periodStart.toISOString(),
    period_end: row.periodEnd.toISOString(),
    is_deleted: row.deletedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type InvoiceView = ReturnType<typeof invoiceView>;
export type InvoiceItemView = ReturnType<typeof invoiceItemView>;
