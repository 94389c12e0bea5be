import { z } from 'zod';
import { idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const scopes = ['account', 'processor', 'price'] as const;
const states = ['stands', 'restarting', 'lifted'] as const;

export const startChargeStopBody = z.strictObject({
  scope: z.enum(scopes),
  object_id: idText.nullable().optional().describe('The connection or the price; left out for the account'),
  reason: text(500).min(1).describe('Why; shown to everybody who wonders'),
});
export type StartChargeStopBody = z.infer<typeof startChargeStopBody>;

export const liftChargeStopBody = z.strictObject({
  restart_per_second: z.int().min(1).max(100).default(10).describe('Waiting payments that may begin per second'),
});
export type LiftChargeStopBody = z.infer<typeof liftChargeStopBody>;

const filters = { scope: z.enum(scopes), status: z.enum(states) };

export const chargeStopsQuery = cursorQuery({ scope: filters.scope.optional(), status: filters.status.optional() });
export type ChargeStopsQuery = z.infer<typeof chargeStopsQuery>;

export const listChargeStopsBody = listBody(['created_at', 'updated_at'], {
  scope: filters.scope.nullable().optional(),
  status: filters.status.nullable().optional(),
});
export type ListChargeStopsBody = z.infer<typeof listChargeStopsBody>;

export const chargeStopShape = z
  .object({
    id: z.string(),
    object: z.literal('charge_stop'),
    account_id: z.string(),
    scope: z.enum(scopes),
    object_id: z.string(),
    status: z.enum(states),
    reason: z.string(),
    waiting_payments: z.int().describe('Payments that go on when it is lifted'),
    started_by: z.string().nullable(),
    started_at: z.iso.datetime(),
    lifted_by: z.string().nullable(),
    lifted_at: z.iso.datetime().nullable(),
    restart_per_second: z.int().nullable(),
    drained_at: z.iso.datetime().nullable().describe('When nothing waited for it any more'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'ChargeStop' });
