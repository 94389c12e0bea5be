import { z } from 'zod';
import { currencies } from '../../../../libs/domain/currency.js';

/** Pieces of request schemas that mean the same everywhere. */

const mostBytes = 16 * 1024;
const deepest = 3;
const keyPattern = /^[A-Za-z][A-Za-z0-9 _.:-]{0,63}$/;

/** An amount in the currency's smallest unit, up to what a JavaScript number holds exactly. */
export const amountAtom = z.int().min(0);

export const currency = z.enum(currencies).describe('ISO 4217, lower case');

/** RFC 3339 with any offset, read as an instant. */
export const instant = z.iso
  .datetime({ offset: true })
  .refine((text) => isStorable(new Date(text)), 'Year out of range')
  .transform((text) => new Date(text));

function isStorable(at: Date): boolean {
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999;
}

/** An id in a body; `bodyId` checks kind and environment. */
export const idText = z.string().min(1).max(100);

export const text = (longest: number) => z.string().max(longest);

/** Free fields of the caller: `custom_fields` and `metadata`. */
export const freeFields = z
  .record(z.string(), z.unknown())
  .superRefine((fields, context) => {
    const before = context.issues.length;
    checkLevel(fields, [], context);
    if (context.issues.length === before && Buffer.byteLength(JSON.stringify(fields)) > mostBytes) {
      context.addIssue({ code: 'custom', message: 'Larger than 16 KiB', params: { type: 'too_large' } });
    }
  })
  .describe('Up to 3 levels, 16 KiB; keys `[A-Za-z][A-Za-z0-9 _.:-]{0,63}`; texts, booleans, null, numbers; no lists');

type Context = z.core.$RefinementCtx<Record<string, unknown>>;

function checkLevel(level: Record<string, unknown>, path: string[], context: Context): void {
  for (const [key, value] of Object.entries(level)) {
    const at = [...path, key];
    if (!keyPattern.test(key)) context.addIssue({ code: 'custom', path: at, message: 'Not an allowed key', params: { type: 'invalid_key' } });
    else if (typeof value === 'number') checkNumber(value, at, context);
    else if (Array.isArray(value)) context.addIssue({ code: 'custom', path: at, message: 'Lists are not allowed', params: { type: 'type_error' } });
    else if (typeof value === 'object' && value !== null) {
      if (at.length >= deepest) context.addIssue({ code: 'custom', path: at, message: 'Nested deeper than 3 levels', params: { type: 'too_deep' } });
      else checkLevel(value as Record<string, unknown>, at, context);
    }
  }
}

function checkNumber(value: number, path: string[], context: Context): void {
  const size = Math.abs(value);
  if (size > Number.MAX_SAFE_INTEGER || (size !== 0 && size < 1e-4) || /e/i.test(String(value))) {
    context.addIssue({ code: 'custom', path, message: 'Not a number within 10^-4 and 2^53 - 1 in size, or 0', params: { type: 'number_range' } });
  }
}

export const country = z.string().regex(/^[A-Za-z]{2}$/, 'Expected two letters of ISO 3166').transform((code) => code.toUpperCase());
