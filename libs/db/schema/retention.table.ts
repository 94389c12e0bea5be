import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.js';

/** How far the pruner has walked through tables whose rows stay and only lose their contents. */
export const retentionMarks = pgTable('retention_marks', {
  name: text().primaryKey(),
  /** UUIDv7 of the last row that was looked at. */
  position: uuid().notNull(),
  updatedAt: instant().notNull(),
});
