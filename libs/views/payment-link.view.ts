import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface PaymentLinkFields {
  id: string;
  accountId: string;
  mode: 'payment' | 'setup' | 'subscription';
  active: boolean;
  inactiveReason: string | null;
  currency: string | null;
  customerId: string | null;
  alwaysCreateNewCustomer: boolean;
  paymentRouteId: string | null;
  successUrl: string | null;
  checkoutPreferences: Record<string, unknown> | null;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  trialEnd: Date | null;
  trialFromPrice: boolean | null;
  trialPeriodDays: number | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface PaymentLinkItemFields {
  id: string;
  paymentLinkId: string;
  priceId: string;
  quantity: number;
  description: string | null;
  customFields: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface PaymentLinkParts {
  items: PaymentLinkItemFields[];
  accountName: string;
  /** Of the customer that the link names. */
  customerEmail: string | null;
}

const noPreferences = {
  fallback_cascade_preferences: [],
  fallback_cascade_selected_product_price_quantity: [],
  override_feature_rollout_settings: null,
  processor_preferences: { filter_providers: [], ids_whitelist: [], names_whitelist: [] },
  unused: null,
};

/**
 * Times RFC 3339 UTC. `secure_token` and `url` are empty here, as events carry them: whoever reads an event must not be
 * able to open the page. `withPage` fills them in for the API's answers.
 */
export function paymentLinkView(row: PaymentLinkFields, parts: PaymentLinkParts, environment: Environment) {
  return {
    id: publicId('plink', environment, row.id),
    object: 'payment_link',
    account_id: publicId('acct', environment, row.accountId),
    account_name: parts.accountName,
    active: row.active,
    inactive_reason: row.inactiveReason,
    mode: row.mode,
    currency: row.currency,
    customer_id: row.customerId ? publicId('cus', environment, row.customerId) : null,
    customer_email: parts.customerEmail,
    always_create_new_customer: row.alwaysCreateNewCustomer,
    payment_route_id: row.paymentRouteId ? publicId('route', environment, row.paymentRouteId) : null,
    success_url: row.successUrl,
    checkout_preferences: { ...noPreferences, ...row.checkoutPreferences },
    coupon_id: null,
    custom_fields: row.customFields,
    metadata: row.metadata,
    trial_end: row.trialEnd?.toISOString() ?? null,
    trial_from_price: row.trialFromPrice,
    trial_period_days: row.trialPeriodDays,
    line_items: parts.items.map((item) => itemView(item, environment)),
    secure_token: '',
    url: '',
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function itemView(item: PaymentLinkItemFields, environment: Environment) {
  return {
    id: publicId('plli', environment, item.id),
    object: 'payment_link_line_item',
    payment_link_id: publicId('plink', environment, item.paymentLinkId),
    price_id: publicId('price', environment, item.priceId),
    quantity: item.quantity,
    description: item.description,
    custom_fields: item.customFields,
    is_deleted: false,
    created_at: item.createdAt.toISOString(),
    updated_at: item.updatedAt.toISOString(),
  };
}

export type PaymentLinkView = ReturnType<typeof paymentLinkView>;

/** The address of a link's page. */
export function payPageUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/pay/${token}`;
}

/** The same object with the token that opens its page. */
export function withPage(view: PaymentLinkView, { token, publicUrl }: { token: string; publicUrl: string }): PaymentLinkView {
  return { ...view, secure_token: token, url: payPageUrl(publicUrl, token) };
}

export interface PublicLinkLine {
  name: string;
  description: string | null;
  quantity: number;
  unitAmountAtom: number;
  amountAtom: number;
}

export interface PublicLinkFields {
  active: boolean;
  mode: string;
  accountName: string;
  currency: string;
  amountAtom: number;
  lines: PublicLinkLine[];
  /** Whether the page asks for e-mail and name. */
  asksPayer: boolean;
}

/** What anybody who holds the token may know: what is sold, by whom, for how much. Amounts in atoms of `currency`. */
export function publicPaymentLinkView(link: PublicLinkFields, { token, publicUrl }: { token: string; publicUrl: string }) {
  return {
    object: 'payment_link',
    account_name: link.accountName,
    active: link.active,
    mode: link.mode,
    currency: link.currency,
    amount_atom: link.amountAtom,
    asks_customer: link.asksPayer,
    line_items: link.lines.map((line) => ({
      name: line.name,
      description: line.description,
      quantity: line.quantity,
      unit_amount_atom: line.unitAmountAtom,
      amount_atom: line.amountAtom,
    })),
    secure_token: token,
    url: payPageUrl(publicUrl, token),
  };
}
