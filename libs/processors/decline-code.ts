import type { OutcomeClass } from '../domain/payment/outcome.js';
import type { DeclineCode } from '../errors/catalogue.js';

/** One code of a processor and what it means here. `source`: where the processor says so. */
export interface DeclineRow {
  code: string;
  outcomeClass: OutcomeClass;
  declineCode: DeclineCode;
  source: string;
}

export type DeclineTable = ReadonlyMap<string, DeclineRow>;

export function declineTable(rows: readonly DeclineRow[]): DeclineTable {
  const table = new Map(rows.map((row) => [row.code, row]));
  if (table.size !== rows.length) throw new Error('a decline code stands twice in its table');
  return table;
}

/** An issuer's refusal whose code is in no table: a soft decline with `generic_decline`, which is not retried now. */
export const unlistedDecline = { outcomeClass: 'soft_decline', declineCode: 'generic_decline' } as const;
