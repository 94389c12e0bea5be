import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, stamps } from './columns.js';

/** The token itself is never stored: `hash` is HMAC-SHA256 of it under the installation's token key. */
export const apiTokens = pgTable(
  'api_tokens',
  {
    id: id(),
    accountId: accountId(),
    name: text().notNull(),
    role: text().$type<'ADMIN' | 'OPERATOR' | 'READ_ONLY'>().notNull(),
    hash: text().notNull().unique('api_tokens_hash'),
    /** First characters of the token, to recognise it in a list. */
    hint: text().notNull(),
    expiresAt: instant(),
    revokedAt: instant(),
    /** Networks in CIDR form; null: any address. */
    allowedNetworks: text().array(),
    lastUsedAt: instant(),
    rolledToId: uuid(),
    ...stamps(),
  },
  (t) => [index('api_tokens_account').on(t.accountId, t.id)],
);

export type ApiTokenRow = typeof apiTokens.$inferSelect;
