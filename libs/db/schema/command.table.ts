import { jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.js';

/** What a command did to an object, written in the effect's transaction: a second run finds it and returns the result. */
export const commands = pgTable(
  'commands',
  {
    commandId: uuid().notNull(),
    objectId: uuid().notNull(),
    step: text().notNull().default(''),
    result: jsonb().$type<unknown>(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.commandId, t.objectId, t.step] })],
);
