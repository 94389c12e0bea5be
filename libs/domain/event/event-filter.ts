import { eventTypes, isSensitiveType } from './event-type.js';

const everything = new Set(['*', 'all']);
const known = new Set<string>(eventTypes);

/**
 * Whether an endpoint subscribed to `enabledEvents` hears an event of `type`. `*` and `all` mean every type that is not
 * sensitive, `x.*` a prefix, anything else one exact type.
 */
export function matchesEvent(enabledEvents: readonly string[], type: string): boolean {
  return enabledEvents.some((pattern) => {
    if (pattern === type) return true;
    if (everything.has(pattern)) return !isSensitiveType(type);
    return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
  });
}

/** The entries that name neither a known type, nor a prefix of one, nor everything; with their positions. */
export function unknownFilters(enabledEvents: readonly string[]): { index: number; entry: string }[] {
  return enabledEvents.map((entry, index) => ({ index, entry })).filter(({ entry }) => !isKnownFilter(entry));
}

function isKnownFilter(entry: string): boolean {
  if (everything.has(entry)) return true;
  if (entry.endsWith('.*') && entry.length > 2) return eventTypes.some((type) => type.startsWith(entry.slice(0, -1)));
  return known.has(entry);
}
