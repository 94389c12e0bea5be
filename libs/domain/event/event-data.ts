/** Most bytes of an event's `data`. */
export const mostDataBytes = 65_536;

/** Keys that an object is known by. */
const identity = new Set(['id', 'object']);

/**
 * An object as the `data` of its events: JSON of at most 64 KiB. One that is larger says less, the largest values first: objects in a list
 * become their ids, then whole values become null. `reduced_keys` names them; GET of the object shows them.
 */
export function eventData(data: object): string {
  const whole = JSON.stringify(data);
  if (fits(whole)) return whole;
  const left: Record<string, unknown> = { ...data };
  const reduced = new Set<string>();
  for (const reduce of [idsOf, nothing]) {
    for (const key of largestFirst(left)) {
      const less = reduce(left[key]);
      if (less === left[key]) continue;
      left[key] = less;
      reduced.add(key);
      const text = JSON.stringify({ ...left, reduced_keys: [...reduced] });
      if (fits(text)) return text;
    }
  }
  throw new Error('the keys of an object are larger than an event may be');
}

function fits(text: string): boolean {
  return text.length * 3 <= mostDataBytes || (text.length <= mostDataBytes && new TextEncoder().encode(text).length <= mostDataBytes);
}

function largestFirst(data: Record<string, unknown>): string[] {
  const sizes = new Map(Object.keys(data).filter((key) => !identity.has(key)).map((key) => [key, JSON.stringify(data[key])?.length ?? 0]));
  return [...sizes.keys()].sort((a, b) => sizes.get(b)! - sizes.get(a)!);
}

function idsOf(value: unknown): unknown {
  return Array.isArray(value) && value.length > 0 && value.every(hasId) ? value.map(({ id }) => id) : value;
}

function hasId(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

function nothing(): null {
  return null;
}
