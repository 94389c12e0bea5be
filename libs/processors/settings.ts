import { z } from 'zod';
import type { Environment } from '../domain/environment.js';
import type { FieldProblem } from '../errors/domain-error.js';
import { httpCredentials, httpSettings } from './http/http.settings.js';
import { minimumAmounts } from './minimum-amounts.js';
import type { ProcessorKind } from './port.js';
import { simulatorOutcomeNames } from './simulator/simulator-outcome.js';
import { stripeCredentials, stripeSettings } from './stripe/stripe.settings.js';

/** Where a connection lives. */
export interface ProcessorPlace {
  environment: Environment;
  /** Staging on one machine: a processor may stand on a loopback address. */
  allowLoopback: boolean;
}

const milliseconds = (most: number) => z.int().min(1).max(most);

const settingsByKind: Record<ProcessorKind, (place: ProcessorPlace) => z.ZodType> = {
  simulator: () => z.strictObject({
    outcome: z.enum(simulatorOutcomeNames).nullable(),
    total_timeout_ms: milliseconds(7_000),
    connect_timeout_ms: milliseconds(5_000),
    idempotency: z.boolean(),
    settle_after_ms: z.int().min(0).max(86_400_000),
    /** Test cards are shared, so by default refusals are counted per payment method only. */
    count_by_fingerprint: z.boolean(),
    minimum_amounts: minimumAmounts,
  }).partial(),
  stripe: stripeSettings,
  http: httpSettings,
};

/** Kinds that are not listed take any credentials, or none. */
const credentialsByKind: Partial<Record<ProcessorKind, (place: ProcessorPlace) => z.ZodType>> = {
  stripe: stripeCredentials,
  http: () => httpCredentials,
};

/** What a connection is to have; what is undefined stays as it is, null is nothing at all. */
export interface WantedConnection {
  settings?: Record<string, unknown> | null;
  credentials?: Record<string, string> | null;
}

/** What is wrong with it, by field; empty if nothing is. Never tells a credential. */
export function connectionProblems(kind: ProcessorKind, { settings, credentials }: WantedConnection, place: ProcessorPlace): FieldProblem[] {
  const secret = credentialsByKind[kind]?.(place);
  return [
    ...(settings === undefined ? [] : problemsOf(settingsByKind[kind](place), settings ?? {}, { field: 'settings', unknown: 'Unknown setting' })),
    ...(credentials === undefined || !secret ? [] : problemsOf(secret, credentials ?? {}, { field: 'credentials', unknown: 'Unknown credential' })),
  ];
}

function problemsOf(schema: z.ZodType, value: object, { field, unknown }: { field: string; unknown: string }): FieldProblem[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const loc = ['body', field, ...issue.path.map(String)];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ loc: [...loc, key], msg: unknown, type: 'extra_forbidden' }));
    return [{ loc, msg: issue.message.replace(/^Invalid input: /, ''), type: issue.code }];
  });
}
