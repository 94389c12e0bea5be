import { z } from 'zod';
import type { Environment } from '../domain/environment.js';
import type { FieldProblem } from '../errors/domain-error.js';
import { httpCredentials, httpSettings, type PeerPolicy } from './http/http.settings.js';
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
  }).partial(),
  stripe: stripeSettings,
  http: () => z.strictObject({ total_timeout_ms: milliseconds(60_000), connect_timeout_ms: milliseconds(5_000) }).partial(),
};

/** Kinds that are not listed take any credentials, or none. */
const credentialsByKind: Partial<Record<ProcessorKind, (place: ProcessorPlace) => z.ZodType>> = {
  stripe: stripeCredentials,
};

/** Kinds that cannot work without credentials, and what these are. */
const credentialsByKind: Partial<Record<ProcessorKind, z.ZodType>> = {
  http: httpCredentials,
};

/** What is wrong with the settings of a connection, by field; empty if nothing is. */
export function settingsProblems(kind: ProcessorKind, settings: Record<string, unknown>, policy: PeerPolicy): FieldProblem[] {
  return problemsOf(settingsByKind[kind](policy), settings, { field: 'settings', unknown: 'Unknown setting' });
}

/** What is wrong with its credentials, by field. Never tells a value. */
export function credentialsProblems(kind: ProcessorKind, credentials: Record<string, string>): FieldProblem[] {
  const schema = credentialsByKind[kind];
  return schema ? problemsOf(schema, credentials, { field: 'credentials', unknown: 'Unknown credential' }) : [];
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
