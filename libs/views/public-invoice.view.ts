import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';
import { invoiceAmounts, type InvoiceFields, type InvoiceItemFields } from './invoice.view.js';

export interface PublicInvoiceParts {
  lines: InvoiceItemFields[];
  sellerName: string;
  billedTo: { name: string | null; businessName: string | null; address: Record<string, string | null> | null };
  /** Of the payment that was made. */
  card: { brand: string | null; last4: string | null } | null;
  trial: { start: Date | null; end: Date | null } | null;
  hostedUrl: string;
}

const nowhere = { line1: null, line2: null, line3: null, city: null, state: null, zip_code: null, country: null };

/** What the holder of an invoice's address sees: no ids but its own, no custom fields, no comments. */
export function publicInvoiceView(row: InvoiceFields, parts: PublicInvoiceParts, environment: Environment) {
  const address = parts.billedTo.address ?? {};
  const written = ['line1', 'line2', 'line3', 'zip_code', 'city', 'state', 'country'].flatMap((key) => (address[key] ? [address[key]] : []));
  return {
    id: publicId('inv', environment, row.id),
    status: row.status,
    currency: row.currency,
    ...invoiceAmounts(row),
    provider_type_fee_amount_atom: 0,
    total_discount_amount_atoms: [],
    created_at: row.createdAt.toISOString(),
    due_date: row.dueDate.toISOString(),
    paid_at: row.paidAt?.toISOString() ?? null,
    billed_to: parts.billedTo.name,
    billed_to_business_name: parts.billedTo.businessName,
    billing_address: written.length > 0 ? written.join(', ') : null,
    branding: { name: parts.sellerName },
    card_type: parts.card?.brand ?? null,
    last_four: parts.card?.last4 ?? null,
    customer_tax_ids: [],
    merchant_tax_ids: [],
    merchant_billing_address: nowhere,
    is_initial_invoice_for_trial_sub: row.isInitialForTrial,
    trial_start_for_sub: parts.trial?.start?.toISOString() ?? null,
    trial_end_for_sub: parts.trial?.end?.toISOString() ?? null,
    hosted_invoice_url: parts.hostedUrl,
    invoice_pdf_url: '',
    receipt_pdf_url: '',
    lines: parts.lines.map((line) => ({
      name: line.name,
      invoice_item_description: line.description,
      subscription_item_description: line.subscriptionId ? line.description : null,
      quantity: line.quantity,
      amount_atom: line.amountAtom,
      amount_atom_considering_discount_applied: line.amountAtom,
      currency: line.currency,
      discount_amount_atoms: [],
      discounts: [],
      price_tiers: [],
      period_end: line.periodEnd.toISOString(),
    })),
  };
}
