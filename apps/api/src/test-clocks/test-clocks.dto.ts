import { z } from 'zod';
import { instant, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const statuses = ['ready', 'advancing', 'internal_failure'] as const;

/** Calendars are trusted that far. */
const years = { first: 2000, last: 2199 };
const frozenTime = instant.refine((at) => at.getUTCFullYear() >= years.first && at.getUTCFullYear() <= years.last, `Between the years ${years.first} and ${years.last}`);

export const createTestClockBody = z.strictObject({
  name: text(200).min(1).nullable().optional(),
  frozen_time: frozenTime.describe(`What the clock shows at first, past or future, between the years ${years.first} and ${years.last}`),
});
export type CreateTestClockBody = z.infer<typeof createTestClockBody>;

export const advanceTestClockBody = z.strictObject({
  frozen_time: frozenTime.describe('Later than what the clock shows; at any distance'),
});
export type AdvanceTestClockBody = z.infer<typeof advanceTestClockBody>;

export const testClocksQuery = cursorQuery({ status: z.enum(statuses).optional() });
export type TestClocksQuery = z.infer<typeof testClocksQuery>;
export const listTestClocksBody = listBody(['created_at', 'updated_at'], { status: z.enum(statuses).nullable().optional() });
export type ListTestClocksBody = z.infer<typeof listTestClocksBody>;

const time = z.iso.datetime();

export const testClockShape = z
  .object({
    id: z.string(),
    object: z.literal('test_clock'),
    account_id: z.string(),
    name: z.string().nullable(),
    status: z.enum(statuses),
    frozen_time: time.describe('What the clock shows; while it advances, the time up to which everything has happened'),
    target_time: time.nullable().describe('Where the running or last advance leads; null before the first'),
    progress: z
      .object({
        actions_done: z.int().describe('Facts that the running or last advance made happen'),
        percent: z.int().describe('Of the way from where the advance began to its target'),
        waiting_for: z.string().nullable().describe('The subscription whose payment has no outcome yet, while it holds the advance'),
      })
      .meta({ id: 'TestClockProgress' }),
    failure_reason: z.string().nullable().describe('Why the last advance could not go on'),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'TestClock' });

export const deleteTestClockShape = z.object({ message: z.string(), test_clock_id: z.string() }).meta({ id: 'DeleteTestClockResponse' });
