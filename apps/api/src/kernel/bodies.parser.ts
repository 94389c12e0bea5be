import { DomainError, type FieldProblem } from '../../../../libs/errors/domain-error.js';
import { invalidRequest } from './validation.pipe.js';

/** Bytes; a body of exactly this size is read. */
export const largestBody = 1024 * 1024;
const deepestNesting = 32;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON strictly. Not JSON or not UTF-8: 400. Duplicate keys, NUL or lone surrogates in any text, `__proto__`, more
 * than 32 levels: 422 naming the place. An empty body is undefined.
 */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const { text, value } = readJson(bytes);
  const problem = findProblem(text);
  if (problem) throw invalidRequest([problem]);
  return value;
}

function readJson(bytes: Buffer): { text: string; value: unknown } {
  try {
    const text = decoder.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new DomainError('unreadable_json');
  }
}

interface Level {
  /** Keys seen so far; null in an array. */
  keys: Set<string> | null;
  /** The key or index that is being read. */
  at: string | number;
}

/** Scans text that is known to be JSON, so it looks at strings, braces, brackets and commas only. */
function findProblem(text: string): FieldProblem | null {
  const levels: Level[] = [];
  let expectsKey = false;
  const problem = (msg: string, type: string): FieldProblem => ({ loc: ['body', ...levels.map((level) => level.at)], msg, type });
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x7b: // {
      case 0x5b: { // [
        if (levels.length === deepestNesting) return problem(`Nested deeper than ${deepestNesting} levels`, 'too_deep');
        const isObject = text.charCodeAt(index) === 0x7b;
        levels.push({ keys: isObject ? new Set() : null, at: isObject ? '' : 0 });
        expectsKey = isObject;
        break;
      }
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop();
        expectsKey = false;
        break;
      case 0x2c: { // ,
        const level = levels[levels.length - 1]!;
        if (level.keys) expectsKey = true;
        else level.at = (level.at as number) + 1;
        break;
      }
      case 0x22: { // "
        const end = endOfString(text, index);
        const read = stringAt(text, index, end);
        index = end;
        if (expectsKey) {
          expectsKey = false;
          const level = levels[levels.length - 1]!;
          level.at = read.isWellFormed() && !read.includes('\0') ? read : '';
          if (level.keys!.has(read)) return problem('Duplicate key', 'duplicate_key');
          if (read === '__proto__') return problem('Forbidden key', 'forbidden_key');
          level.keys!.add(read);
        }
        if (read.includes('\0')) return problem('Text with NUL', 'nul_character');
        if (!read.isWellFormed()) return problem('Text with a lone surrogate', 'lone_surrogate');
      }
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text.charCodeAt(index) !== 0x22) index += text.charCodeAt(index) === 0x5c ? 2 : 1;
  return index;
}

function stringAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : raw;
}
