import { invalidField } from '../errors/domain-error.js';
import type { ProcessorRegistry } from '../processors/registry.js';
import { isSimulatorOutcome } from '../processors/simulator/simulator-outcome.js';
import { simulateOf } from './create-intent.js';

/**
 * A misspelt `custom_fields.simulate` would quietly do something else. Where there is no simulator the field means nothing.
 * @throws DomainError 422 naming `custom_fields.simulate`.
 */
export function requireKnownTrigger(processors: ProcessorRegistry, customFields: Record<string, unknown> | null | undefined): void {
  if (!processors.supports('simulator')) return;
  const asked = simulateOf(customFields);
  if (asked === null) return;
  const names = typeof asked === 'string' ? [asked] : Object.values(asked);
  const unknown = names.find((name) => !isSimulatorOutcome(name));
  if (unknown !== undefined) throw invalidField('custom_fields.simulate', `No such simulated outcome: ${unknown.slice(0, 40)}`, 'unknown_outcome');
}
