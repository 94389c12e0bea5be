import { sql } from 'drizzle-orm';
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object } from './columns.js';

/** What waits for a person. At most one open item per kind and object. */
export const attentionItems = pgTable(
  'attention_items',
  {
    id: id(),
    accountId: accountId(),
    /** What happened, for example `payment_exception`, `payment_link_paused`, `webhook_endpoint_disabled`. */
    type: text().notNull(),
    kind: text().notNull(),
    objectId: uuid().notNull(),
    /** Tells apart several lines of one type about one object. */
    about: text().notNull().default(''),
    reason: text().notNull(),
    details: object(),
    /** What can be done, in plain words and as calls. */
    actions: text().array().notNull(),
    openedAt: instant().notNull(),
    resolvedAt: instant(),
    resolvedBy: text(),
    resolution: text(),
  },
  (t) => [
    uniqueIndex('attention_items_open').on(t.type, t.objectId, t.about).where(sql`resolved_at is null`),
    index('attention_items_account').on(t.accountId, t.id),
  ],
);

export type AttentionItemRow = typeof attentionItems.$inferSelect;
