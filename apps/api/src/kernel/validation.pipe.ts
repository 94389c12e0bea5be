import { Injectable, StandardSchemaValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { DomainError, type FieldProblem } from '../../../../libs/errors/domain-error.js';

interface Issue {
  code?: string;
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[];
  keys?: string[];
  errors?: Issue[][];
  params?: { type?: string };
}

const places: Record<string, string> = { body: 'body', query: 'query', param: 'path' };
const mostProblems = 50;

/** Checks `@Body({ schema })`, `@Query({ schema })` and `@Param({ schema })`; an absent body counts as `{}`. */
@Injectable()
export class ValidationPipe extends StandardSchemaValidationPipe {
  override async transform<T>(value: T, metadata: ArgumentMetadata): Promise<T> {
    if (!metadata.schema || metadata.type === 'custom') return value;
    const input = metadata.type === 'body' && value === undefined ? {} : value;
    if (metadata.type !== 'body') refuseNul(input, places[metadata.type] ?? metadata.type);
    const result = await this.validate<T>(input, metadata.schema);
    if (!result.issues) return result.value;
    throw invalidRequest(fieldProblems(result.issues as readonly Issue[], input, places[metadata.type] ?? metadata.type));
  }
}

/** Bodies are checked as they are read; what stands in the URL is checked here. */
function refuseNul(input: unknown, place: string): void {
  for (const [key, value] of Object.entries((input ?? {}) as Record<string, unknown>)) {
    if ([key, value].flat().some((text) => typeof text === 'string' && text.includes('\0'))) {
      throw invalidRequest([{ loc: [place, key.replaceAll('\0', '')], msg: 'Text with NUL', type: 'nul_character' }]);
    }
  }
}

export function invalidRequest(errors: FieldProblem[]): DomainError {
  const [first] = errors;
  const detail = first ? `${first.loc.slice(1).join('.') || first.loc[0]}: ${first.msg}` : undefined;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new DomainError('invalid_request', detail && `${detail}${more}`, { errors: errors.slice(0, mostProblems) });
}

/** zod's issues as `[{ loc, msg, type }]`; `loc` starts with `body`, `query` or `path`. */
export function fieldProblems(issues: readonly Issue[], input: unknown, place: string): FieldProblem[] {
  return issues.flatMap((issue) => problemsOf(issue, input, [])).map((problem) => ({ ...problem, loc: [place, ...problem.loc] }));
}

function problemsOf(issue: Issue, input: unknown, above: (string | number)[]): FieldProblem[] {
  const loc = [...above, ...(issue.path ?? []).map(plainSegment)];
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({ loc: [...loc, key], msg: 'Unknown field', type: 'extra_forbidden' }));
  }
  if (issue.code === 'invalid_union' && issue.errors && issue.errors.length > 0) {
    const nearest = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)[0]!;
    return nearest.flatMap((inner) => problemsOf(inner, input, loc));
  }
  if (issue.code === 'invalid_type' && valueAt(input, loc) === undefined) return [{ loc, msg: 'Field required', type: 'missing' }];
  return [{ loc, msg: issue.message.replace(/^Invalid input: /, ''), type: issue.params?.type ?? typeOf(issue.code) }];
}

function depthOf(issues: Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path?.length ?? 0));
}

function plainSegment(segment: PropertyKey | { key: PropertyKey }): string | number {
  const key = typeof segment === 'object' ? segment.key : segment;
  return typeof key === 'symbol' ? String(key) : key;
}

function valueAt(input: unknown, loc: readonly (string | number)[]): unknown {
  return loc.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | null | undefined)?.[key], input);
}

function typeOf(code: string | undefined): string {
  if (code === undefined || code === 'custom') return 'value_error';
  return code === 'invalid_type' ? 'type_error' : code;
}
