import type { Breach, Records, Rule } from './records.js';
import { keptWord } from './rules/kept-word.rule.js';
import { knownSuccess } from './rules/known-success.rule.js';
import { moves } from './rules/moves.rule.js';
import { oneCharge } from './rules/one-charge.rule.js';
import { owners } from './rules/owners.rule.js';
import { sums } from './rules/sums.rule.js';
import { invoices } from './rules/invoices.rule.js';
import { toldOnce } from './rules/told-once.rule.js';
import { toldSuccess } from './rules/told-success.rule.js';

/** What must always be true, by its number. */
export const ruleNames: Record<number, string> = {
  1: 'at most one success per payment and invoice',
  2: 'a success we report is a success at the processor, same amount',
  3: 'a success at a processor is known, looked up, or on the attention list',
  4: 'what a 2xx acknowledged survives any crash',
  5: 'states move only along the tables',
  6: 'every change is told, everything told reaches every endpoint, nothing uncommitted is told',
  7: 'captured ≤ authorised, refunded ≤ captured',
  8: 'nothing waits without an owner',
  9: 'no secret and no card data in logs, histories, answers or dumps',
};

const rules: readonly Rule[] = [oneCharge, toldSuccess, knownSuccess, keptWord, moves, toldOnce, sums, owners, invoices];

/** Rules 1 to 8 over one account. Rule 9 is about files: see `secrets.ts`. */
export function check(records: Records): Breach[] {
  return rules.flatMap((rule) => rule(records));
}
