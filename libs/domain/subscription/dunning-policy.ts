import { DomainError } from '../../errors/domain-error.js';

/** What happens when dunning ends unpaid. */
export const finalActions = ['cancel', 'pause', 'leave_unpaid'] as const;
export type FinalAction = (typeof finalActions)[number];

/** All times are whole hours. A run takes the policy that holds when it begins and keeps it. */
export interface DunningPolicy {
  /** Retries, counted from the first failure, ascending. */
  retryHours: readonly number[];
  /** When the run ends unpaid, counted from the first failure; null: with the last retry. */
  endsAfterHours: number | null;
  finalAction: FinalAction;
  /** `send_invoice` only: reminders, counted from the due date, negative before it, ascending. */
  reminderHours: readonly number[];
}

export const defaultDunningPolicy: DunningPolicy = {
  retryHours: [6, 24, 72, 120, 168, 240, 336],
  endsAfterHours: null,
  finalAction: 'cancel',
  reminderHours: [-72, 24, 168],
};

export const mostRetries = 20;
export const mostReminders = 10;
export const longestRunHours = 60 * 24;

const hourMs = 3_600_000;

/** How long a run lasts at most, in milliseconds. */
export function runLastsMs({ endsAfterHours, retryHours }: DunningPolicy): number {
  return (endsAfterHours ?? retryHours.at(-1) ?? 0) * hourMs;
}

export function retryOffsetsMs({ retryHours }: DunningPolicy): number[] {
  return retryHours.map((hours) => hours * hourMs);
}

export function reminderOffsetsMs({ reminderHours }: DunningPolicy): number[] {
  return reminderHours.map((hours) => hours * hourMs);
}

/** @throws DomainError 422 naming the field below `dunning_policy`. */
export function checkDunningPolicy(policy: DunningPolicy): void {
  const { retryHours, reminderHours, endsAfterHours } = policy;
  if (!ascends(retryHours)) refuse('retry_hours', 'must rise from one to the next');
  if (!ascends(reminderHours)) refuse('reminder_hours', 'must rise from one to the next');
  if (endsAfterHours !== null && endsAfterHours < (retryHours.at(-1) ?? 0)) refuse('ends_after_hours', 'must not be before the last retry');
}

function ascends(hours: readonly number[]): boolean {
  return hours.every((value, index) => index === 0 || value > hours[index - 1]!);
}

function refuse(field: string, msg: string): never {
  const loc = ['body', 'dunning_policy', field];
  throw new DomainError('invalid_request', `${loc.slice(1).join('.')}: ${msg}`, { errors: [{ loc, msg, type: 'value_error' }] });
}
