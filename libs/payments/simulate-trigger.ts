import { invalidField } from '../errors/domain-error.js';
import type { ProcessorRegistry } from '../processors/registry.js';
import { isSimulatorOutcome } from '../processors/simulator/simulator-outcome.js';

export type Simulate = string | Record<string, string>;

const month = /^month:/;

/**
 * The simulator's trigger of `custom_fields`: a name, or one per connection; of a subscription also one per month (`"month:2028-04"`, UTC), for
 * the invoice whose period begins in it. Anything else is a custom field like any other.
 */
export function simulateOf(customFields: Record<string, unknown> | null | undefined, billedFrom?: Date | null): Simulate | null {
  const asked = customFields?.simulate;
  if (typeof asked === 'string') return asked;
  if (typeof asked !== 'object' || asked === null) return null;
  const named = Object.entries(asked).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const ofMonth = billedFrom && named.find(([key]) => key === `month:${billedFrom.toISOString().slice(0, 7)}`);
  if (ofMonth) return ofMonth[1];
  const perConnection = named.filter(([key]) => !month.test(key));
  return perConnection.length > 0 ? Object.fromEntries(perConnection) : null;
}

/** Where several names are listed (`"do_not_honor, approved"`): the first is for the first try, the next for its retry; the last one stays. */
export function inTurn(simulate: Simulate | null, confirmation: number): Simulate | null {
  if (simulate === null) return null;
  if (typeof simulate === 'string') return nameInTurn(simulate, confirmation);
  return Object.fromEntries(Object.entries(simulate).map(([connection, names]) => [connection, nameInTurn(names, confirmation)]));
}

function nameInTurn(names: string, confirmation: number): string {
  const listed = namesOf(names);
  return listed[Math.min(Math.max(confirmation, 1), listed.length) - 1] ?? names;
}

function namesOf(names: string): string[] {
  return names.split(',').map((name) => name.trim());
}

/**
 * A misspelt `custom_fields.simulate` would quietly do something else. Where there is no simulator the field means nothing.
 * @throws DomainError 422 naming `custom_fields.simulate`.
 */
export function requireKnownTrigger(processors: ProcessorRegistry, customFields: Record<string, unknown> | null | undefined): void {
  if (!processors.supports('simulator')) return;
  const asked = simulateOf(customFields);
  if (asked === null) return;
  const names = (typeof asked === 'string' ? [asked] : Object.values(asked)).flatMap(namesOf);
  const unknown = names.find((name) => !isSimulatorOutcome(name));
  if (unknown !== undefined) throw invalidField('custom_fields.simulate', `No such simulated outcome: ${unknown.slice(0, 40)}`, 'unknown_outcome');
}
