import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, atoms, id, object, stamps } from './columns.js';
import { charges } from './payment-intent.table.js';

/** A customer's objection at the issuer, as the processor tells it. */
export const disputes = pgTable(
  'disputes',
  {
    id: id(),
    accountId: accountId(),
    paymentIntentId: uuid().notNull(),
    chargeId: uuid().notNull().references(() => charges.id),
    customerId: uuid(),
    /** The processor's own id. */
    theirDisputeId: text().notNull(),
    status: text().$type<'open' | 'won' | 'lost'>().notNull(),
    reason: text(),
    amountAtom: atoms(),
    metadata: object(),
    ...stamps(),
  },
  (t) => [index('disputes_account').on(t.accountId, t.id), uniqueIndex('disputes_theirs').on(t.chargeId, t.theirDisputeId)],
);

export type DisputeRow = typeof disputes.$inferSelect;
