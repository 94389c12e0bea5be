import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';
import { publishedProcessorName } from './processor-name.js';

export interface PaymentMethodFields {
  id: string;
  accountId: string;
  customerId: string | null;
  status: string;
  provider: string;
  cardBrand: string | null;
  cardFunding: string | null;
  cardCountry: string | null;
  cardIin: string | null;
  lastFour: string | null;
  expMonth: number | null;
  expYear: number | null;
  fingerprint: string | null;
  billingAddress: object | null;
  displayName: string;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A mapping with what is shown of its connection. */
export interface MappingFields {
  id: string;
  paymentMethodId: string;
  processorId: string;
  theirPaymentMethodId: string;
  networkTransactionId: string | null;
  createdAt: Date;
  updatedAt: Date;
  connectionName: string;
  connectionKind: string;
}

/** Kinds without a name in the published enumeration are shown in `connections` only. */
const unpublishedKinds = new Set(['http']);

export function paymentMethodMappingView(mapping: MappingFields, environment: Environment) {
  return {
    id: publicId('pmm', environment, mapping.id),
    object: 'payment_method_mapping',
    payment_method_id: publicId('pm', environment, mapping.paymentMethodId),
    processor_id: publicId('processor', environment, mapping.processorId),
    processor_name: publishedProcessorName(mapping.connectionKind),
    their_payment_method_id: mapping.theirPaymentMethodId,
    is_deleted: false,
    created_at: mapping.createdAt.toISOString(),
    updated_at: mapping.updatedAt.toISOString(),
  };
}

function connectionView(mapping: MappingFields, environment: Environment) {
  return {
    processor_id: publicId('processor', environment, mapping.processorId),
    name: mapping.connectionName,
    kind: mapping.connectionKind,
    their_payment_method_id: mapping.theirPaymentMethodId,
    usable_without_customer: mapping.networkTransactionId !== null,
  };
}

/** `mappings` and `connections` hold the connections that are not deleted, oldest first. */
export function paymentMethodView(row: PaymentMethodFields, mappings: MappingFields[], environment: Environment) {
  return {
    id: publicId('pm', environment, row.id),
    object: 'payment_method',
    account_id: publicId('acct', environment, row.accountId),
    status: row.status,
    customer_id: row.customerId ? publicId('cus', environment, row.customerId) : null,
    provider: row.provider,
    display_name: row.displayName,
    card_brand: row.cardBrand,
    card_type: row.cardFunding,
    card_country: row.cardCountry,
    card_iin: row.cardIin,
    card_issuer: null,
    card_fingerprint: row.fingerprint,
    last_four: row.lastFour,
    expiry_date: expiryOf(row),
    is_full_details_known: false,
    cde_external_id: null,
    billing_address: row.billingAddress ?? emptyAddress,
    mappings: mappings.filter((mapping) => !unpublishedKinds.has(mapping.connectionKind)).map((mapping) => paymentMethodMappingView(mapping, environment)),
    connections: mappings.map((mapping) => connectionView(mapping, environment)),
    custom_fields: row.customFields,
    metadata: row.metadata,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** The published shape has no null address. */
const emptyAddress = { line1: null, line2: null, line3: null, city: null, state: null, zip_code: null, country: null };

/** `MM/YYYY`. */
function expiryOf({ expMonth, expYear }: PaymentMethodFields): string | null {
  return expMonth === null || expYear === null ? null : `${String(expMonth).padStart(2, '0')}/${expYear}`;
}

export type PaymentMethodView = ReturnType<typeof paymentMethodView>;
export type PaymentMethodMappingView = ReturnType<typeof paymentMethodMappingView>;
