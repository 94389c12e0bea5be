import { z } from 'zod';
import type { FieldProblem } from '../errors/domain-error.js';
import type { ProcessorKind } from './port.js';
import { simulatorOutcomeNames } from './simulator/simulator-outcome.js';

const milliseconds = (most: number) => z.int().min(1).max(most);

const settingsByKind: Record<ProcessorKind, z.ZodType> = {
  simulator: z.strictObject({
    outcome: z.enum(simulatorOutcomeNames).nullable(),
    total_timeout_ms: milliseconds(7_000),
    connect_timeout_ms: milliseconds(5_000),
    idempotency: z.boolean(),
    settle_after_ms: z.int().min(0).max(86_400_000),
  }).partial(),
  stripe: z.strictObject({ total_timeout_ms: milliseconds(60_000), connect_timeout_ms: milliseconds(5_000) }).partial(),
  http: z.strictObject({ total_timeout_ms: milliseconds(60_000), connect_timeout_ms: milliseconds(5_000) }).partial(),
};

/** What is wrong with the settings of a connection, by field; empty if nothing is. */
export function settingsProblems(kind: ProcessorKind, settings: Record<string, unknown>): FieldProblem[] {
  const parsed = settingsByKind[kind].safeParse(settings);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const loc = ['body', 'settings', ...issue.path.map(String)];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ loc: [...loc, key], msg: 'Unknown setting', type: 'extra_forbidden' }));
    return [{ loc, msg: issue.message.replace(/^Invalid input: /, ''), type: issue.code }];
  });
}
