import { readFileSync } from 'node:fs';

type Shape = string | Record<string, string>;
interface Published {
  /** `query` are the names of its query parameters, `request` is the shape of its body. */
  operations: Record<string, { status: number; shape?: string; query?: string[]; request?: string }>;
  shapes: Record<string, Shape>;
}

/** What clients of the published interface rely on. */
export const published = JSON.parse(readFileSync(new URL('./published-shapes.json', import.meta.url), 'utf8')) as Published;

/** Where our values go beyond the published enumerations on purpose: the contract says so. */
const widened: Record<string, string[]> = {
  SubscriptionStatusEnum: ['cancelled'],
};
const openEnums = new Set(['EventType']);
/** Required objects that need not exist; a payment without an invoice has none, and an empty invoice would be a lie. */
const absentObjects = new Set(['PaymentIntentExternal.invoice']);

/** What a strict decoder of the published interface would refuse. */
export function mismatches(value: unknown, type: string, at: string): string[] {
  const nullable = type.endsWith('?');
  const bare = nullable ? type.slice(0, -1) : type;
  if (value === null) return nullable || bare === 'any' ? [] : [`${at}: null is not ${bare}`];
  if (bare.includes('|')) {
    const results = bare.split('|').map((choice) => mismatches(value, choice, at));
    return results.some((result) => result.length === 0) ? [] : results[0]!;
  }
  if (bare.startsWith('[]')) {
    if (!Array.isArray(value)) return [`${at}: not a list`];
    return value.flatMap((item, index) => mismatches(item, bare.slice(2), `${at}[${index}]`));
  }
  if (bare.startsWith('#')) return mismatchesOfShape(value, bare.slice(1), at);
  if (bare.startsWith('enum:')) return bare.slice(5).split(',').includes(String(value)) ? [] : [`${at}: ${String(value)} is not one of its values`];
  return fits(value, bare) ? [] : [`${at}: ${JSON.stringify(value)?.slice(0, 60)} is not ${bare}`];
}

function mismatchesOfShape(value: unknown, name: string, at: string): string[] {
  const shape = published.shapes[name]!;
  if (openEnums.has(name) || widened[name]?.includes(String(value))) return [];
  if (typeof shape === 'string') return mismatches(value, shape, at);
  if (typeof value !== 'object' || Array.isArray(value)) return [`${at}: not an object`];
  const object = value as Record<string, unknown>;
  return Object.entries(shape).flatMap(([key, type]) => {
    const optional = key.startsWith('~');
    const property = optional ? key.slice(1) : key;
    if (object[property] === undefined) return optional ? [] : [`${at}.${property}: missing`];
    if (object[property] === null && absentObjects.has(`${name}.${property}`)) return [];
    return mismatches(object[property], type, `${at}.${property}`);
  });
}

function fits(value: unknown, type: string): boolean {
  if (type === 'any') return true;
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'time') return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}
