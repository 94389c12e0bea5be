import { sql } from 'drizzle-orm';
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object } from './columns.js';

/** What a processor posted, verified and stored before it is applied. The same event again is the same row. */
export const processorCallbacks = pgTable(
  'processor_callbacks',
  {
    id: id(),
    accountId: accountId(),
    processorId: uuid().notNull(),
    /** The processor's own id of the event. */
    eventId: text().notNull(),
    eventType: text().notNull(),
    /** The raw body, base64, encrypted. */
    bodySealed: text().notNull(),
    /** What it tells about a payment (`ToldPayment`); null for events of no interest. */
    payment: object(),
    /** Null: it names no payment of ours (yet). */
    paymentIntentId: uuid(),
    chargeId: uuid(),
    receivedAt: instant().notNull(),
    appliedAt: instant(),
    /** What came of it: `applied`, `nothing_new`, `not_ours`, `attention` (a person must look). */
    result: text(),
  },
  (t) => [
    uniqueIndex('processor_callbacks_event').on(t.processorId, t.eventId),
    index('processor_callbacks_open').on(t.paymentIntentId).where(sql`applied_at is null and payment_intent_id is not null`),
    index('processor_callbacks_received').on(t.receivedAt),
  ],
);

export type ProcessorCallbackRow = typeof processorCallbacks.$inferSelect;
