import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface AddressFields {
  line1: string | null;
  line2: string | null;
  line3: string | null;
  city: string | null;
  state: string | null;
  zip_code: string | null;
  country: string | null;
}

export interface CustomerFields {
  id: string;
  accountId: string;
  email: string;
  billingEmail: string | null;
  firstName: string | null;
  lastName: string | null;
  businessName: string | null;
  phoneNumber: string | null;
  notes: string | null;
  language: string | null;
  address: AddressFields;
  billingAddress: AddressFields | null;
  shippingAddresses: AddressFields[];
  invoiceSettings: {
    customer_tax_ids?: { tax_id: string; tax_id_type: string }[] | null;
    default_net_d?: number | null;
    email_receipt_on_paid?: boolean | null;
  } | null;
  defaultPaymentMethodId: string | null;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  testClockId: string | null;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Computed from other tables; shown by reads, never in events. Amounts in atoms, per currency. */
export interface CustomerTotals {
  balances: Record<string, number>;
  spent: Record<string, number>;
  refunded: Record<string, number>;
  /** `inactive` while there is no subscription. */
  status: 'active' | 'inactive' | 'trialing' | 'cancelled';
}

/** The published customer, as its events carry it. `language` and `customer_billing_address` are absent where unknown. */
export function customerView(customer: CustomerFields, environment: Environment) {
  const settings = customer.invoiceSettings ?? {};
  return {
    id: publicId('cus', environment, customer.id),
    object: 'customer',
    account_id: publicId('acct', environment, customer.accountId),
    email: customer.email,
    billing_email: customer.billingEmail,
    first_name: customer.firstName,
    last_name: customer.lastName,
    business_name: customer.businessName,
    phone_number: customer.phoneNumber,
    notes: customer.notes,
    ...(customer.language ? { language: customer.language } : {}),
    address: customer.address,
    ...(customer.billingAddress ? { customer_billing_address: customer.billingAddress } : {}),
    shipping_addresses: customer.shippingAddresses,
    invoice_settings: {
      customer_tax_ids: settings.customer_tax_ids ?? [],
      default_net_d: settings.default_net_d ?? null,
      email_receipt_on_paid: settings.email_receipt_on_paid ?? null,
    },
    should_send_payment_receipt: settings.email_receipt_on_paid ?? false,
    default_payment_method_id: customer.defaultPaymentMethodId && publicId('pm', environment, customer.defaultPaymentMethodId),
    custom_fields: customer.customFields,
    metadata: customer.metadata,
    test_clock_id: customer.testClockId && publicId('clock', environment, customer.testClockId),
    is_deleted: customer.deletedAt !== null,
    created_at: customer.createdAt.toISOString(),
    updated_at: customer.updatedAt.toISOString(),
  };
}

/** The published customer, as reads answer it. */
export function customerWithTotalsView(customer: CustomerFields, totals: CustomerTotals, environment: Environment) {
  return {
    ...customerView(customer, environment),
    status: totals.status,
    balance_atoms: perCurrency(totals.balances),
    total_spent: perCurrency(totals.spent),
    total_refunds: perCurrency(totals.refunded),
  };
}

function perCurrency(amounts: Record<string, number>) {
  return Object.entries(amounts).map(([currency, amount]) => ({ amount_atom: amount, currency }));
}
