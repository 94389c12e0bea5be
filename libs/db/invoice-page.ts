import { timingSafeEqual } from 'node:crypto';
import { keyedHash } from './payment-link-token.js';

const purpose = 'invoice page';

/**
 * The credential in an invoice's hosted address: the invoice's id and its signature, so nothing is stored and every invoice
 * has one. It opens the page of a finalised invoice for good.
 */
export function invoicePageToken(invoiceId: string, key: Buffer): string {
  return `${Buffer.from(invoiceId.replaceAll('-', ''), 'hex').toString('base64url')}.${keyedHash(key, purpose, invoiceId)}`;
}

/** The UUID of the invoice that the token opens; null unless this service made it. */
export function readInvoicePageToken(token: string, key: Buffer): string | null {
  const [, encoded, signature] = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
  if (encoded === undefined || signature === undefined) return null;
  const hex = Buffer.from(encoded, 'base64url').toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return timingSafeEqual(Buffer.from(signature), Buffer.from(keyedHash(key, purpose, id))) ? id : null;
}

export interface InvoicePages {
  /** Without a trailing slash. */
  publicUrl: string;
  tokenKey: Buffer;
}

/** Where a customer sees and pays the invoice; null until it is finalised. Never part of an event. */
export function hostedInvoiceUrl({ publicUrl, tokenKey }: InvoicePages, invoice: { id: string; finalizedAt: Date | null }): string | null {
  return invoice.finalizedAt ? `${publicUrl}/pay/invoices/${invoicePageToken(invoice.id, tokenKey)}` : null;
}
