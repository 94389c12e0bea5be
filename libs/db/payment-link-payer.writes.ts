import { and, desc, eq, isNull } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { PayerInput } from '../domain/payment-link/card-form.js';
import type { Tx } from './client.js';
import { createCustomer } from './customer.writes.js';
import { newId } from './mint.js';
import { customers, paymentIntents, type PaymentLinkRow } from './schema/index.js';

const nowhere = { line1: null, line2: null, line3: null, city: null, state: null, zip_code: null, country: null };

/**
 * The customer of a visitor: one who came to this link before under the same e-mail address, else a new one. Customers that
 * the account made itself are never found by an address that a stranger typed.
 */
export async function payerOf(tx: Tx, change: Change, { link, payer }: { link: PaymentLinkRow; payer: PayerInput }): Promise<string> {
  const known = link.alwaysCreateNewCustomer ? null : await earlierPayer(tx, link, payer.email);
  if (known) return known;
  const { email, firstName, lastName } = payer;
  const row = await createCustomer(tx, change, { id: newId(), fields: { email, firstName, lastName, address: nowhere } });
  return row.id;
}

async function earlierPayer(tx: Tx, link: PaymentLinkRow, email: string): Promise<string | null> {
  const [row] = await tx
    .select({ id: customers.id })
    .from(customers)
    .innerJoin(paymentIntents, eq(paymentIntents.customerId, customers.id))
    .where(
      and(eq(customers.accountId, link.accountId), eq(customers.email, email), isNull(customers.deletedAt), eq(paymentIntents.paymentLinkId, link.id)),
    )
    .orderBy(desc(customers.id))
    .limit(1);
  return row?.id ?? null;
}
