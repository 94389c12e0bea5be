import { z } from 'zod';
import { instant } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

const states = ['running', 'done', 'failed', 'not_supported'] as const;

export const startReconciliationBody = z.strictObject({
  since: instant.nullable().optional().describe('Default: 72 hours ago; at most 90 days ago'),
  until: instant.nullable().optional().describe('Default: now'),
});
export type StartReconciliationBody = z.infer<typeof startReconciliationBody>;

export const reconciliationsQuery = cursorQuery({ status: z.enum(states).optional() });
export type ReconciliationsQuery = z.infer<typeof reconciliationsQuery>;

export const reconciliationShape = z
  .object({
    id: z.string(),
    object: z.literal('reconciliation'),
    account_id: z.string(),
    processor_id: z.string(),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    status: z.enum(states),
    compared: z.int().describe('Payments of the processor that were looked at'),
    differences: z.int().describe('What was learned, and what is on the attention list'),
    details: z.record(z.string(), z.unknown()).describe('`findings`: the first 200 differences'),
    night: z.string().nullable().describe('The night that it belongs to; null where it was asked for'),
    started_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Reconciliation' });
