import { z } from 'zod';
import {
  fallbackClasses,
  routeLimits,
  type FieldTest,
  type RouteCondition,
  type RouteDocument,
  type RouteStrategy,
} from '../../../../libs/domain/route/route.document.js';
import { currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const value = z.union([z.string().max(500), z.number(), z.boolean()]);
const values = z.array(value).max(routeLimits.listValues);
const bound = z.number();

const fieldTest = z.strictObject({
  field: text(100).min(1),
  eq: value.optional(),
  ne: value.optional(),
  in: values.optional(),
  not_in: values.optional(),
  lt: bound.optional(),
  lte: bound.optional(),
  gt: bound.optional(),
  gte: bound.optional(),
  prefix: text(100).min(1).optional(),
  exists: z.boolean().optional(),
}) satisfies z.ZodType<FieldTest>;

const condition: z.ZodType<RouteCondition> = z.lazy(() =>
  z.union([
    z.strictObject({ all: z.array(condition).max(100) }),
    z.strictObject({ any: z.array(condition).max(100) }),
    z.strictObject({ not: condition }),
    fieldTest,
  ]));

const fallback = z.strictObject({
  on: z.array(z.enum(fallbackClasses)).max(fallbackClasses.length),
  max_attempts: z.int().min(1).max(routeLimits.maxAttempts),
});
const processors = z.array(idText).max(routeLimits.processors);

const strategy = z.discriminatedUnion('strategy', [
  z.strictObject({ strategy: z.literal('priority'), processors, fallback: fallback.optional() }),
  z.strictObject({
    strategy: z.literal('split'),
    weights: z.array(z.strictObject({ processor: idText, percent: z.int().min(0).max(100) })).max(routeLimits.processors),
    fallback: fallback.optional(),
  }),
  z.strictObject({
    strategy: z.literal('success_rate'),
    processors,
    window_seconds: z.int().min(60).max(30 * 86_400).optional(),
    exploration_percent: z.int().min(0).max(50).optional(),
    fallback: fallback.optional(),
  }),
  z.strictObject({
    strategy: z.literal('least_cost'),
    fees: z
      .array(z.strictObject({ processor: idText, basis_points: z.int().min(0).max(10_000), fixed_atom: z.int().min(0), currency: currency.optional() }))
      .max(routeLimits.processors),
    fallback: fallback.optional(),
  }),
]) satisfies z.ZodType<RouteStrategy>;

/** The document's shape; what a shape cannot say is checked by the domain. */
export const routeDocument = z.strictObject({
  rules: z.array(z.strictObject({ name: text(100).min(1), when: condition, then: strategy })).max(routeLimits.rules).default([]),
  default: strategy,
}) satisfies z.ZodType<RouteDocument>;

const draft = z.boolean().default(false).describe('Keep the version unpublished; OPERATOR may only draft');

const execution = z.enum(['workflow', 'inline']).nullable().optional().describe('Who runs the first step of a payment that does not say; null: the account\'s');

export const createPaymentRouteBody = z.strictObject({ name: text(200).min(1), route_configuration: routeDocument, execution, draft });
export type CreatePaymentRouteBody = z.infer<typeof createPaymentRouteBody>;

export const updatePaymentRouteBody = z.strictObject({
  name: text(200).min(1).optional(),
  route_configuration: routeDocument.optional().describe('Makes the next version; without it there is none'),
  execution,
  draft,
});
export type UpdatePaymentRouteBody = z.infer<typeof updatePaymentRouteBody>;

export const publishPaymentRouteBody = z.strictObject({ version: z.int().min(1) });
export type PublishPaymentRouteBody = z.infer<typeof publishPaymentRouteBody>;

export const evaluatePaymentRouteBody = z.strictObject({
  version: z.int().min(1).optional().describe('Default: the live version'),
  payment_method_id: idText.nullable().optional().describe('Its mappings decide who is a candidate; without one every enabled connection is'),
  payment: z.strictObject({
    amount_atom: z.int().min(1),
    currency,
    payment_method_kind: text(50).nullable().optional(),
    card_brand: text(50).nullable().optional(),
    funding: text(50).nullable().optional(),
    bin: z.string().regex(/^\d{1,8}$/).nullable().optional(),
    issuer_country: text(2).nullable().optional(),
    billing_country: text(2).nullable().optional(),
    initiator: z.enum(['customer', 'merchant']).default('customer'),
    subscription_payment: z.enum(['first', 'later']).nullable().optional(),
    customer_id: idText.nullable().optional(),
    metadata: freeFields.nullable().optional(),
    custom_fields: freeFields.nullable().optional(),
    payment_id: text(100).optional().describe('Identity that `split` goes by'),
  }),
});
export type EvaluatePaymentRouteBody = z.infer<typeof evaluatePaymentRouteBody>;

export const listPaymentRoutesBody = listBody(['created_at', 'updated_at', 'name'], {});
export type ListPaymentRoutesBody = z.infer<typeof listPaymentRoutesBody>;
export const paymentRoutesQuery = cursorQuery({});
export type PaymentRoutesQuery = z.infer<typeof paymentRoutesQuery>;

const time = z.iso.datetime();
const looseDocument = z.record(z.string(), z.unknown());

export const paymentRouteShape = z
  .object({
    id: z.string(),
    object: z.literal('payment_route'),
    account_id: z.string(),
    name: z.string(),
    route_type: z.literal('cit_mit_processors'),
    route_config: looseDocument,
    execution: z.enum(['workflow', 'inline']).nullable(),
    live_version: z.int().nullable(),
    latest_version: z.int(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'PaymentRoute' });

export const paymentRouteVersionShape = z
  .object({ version: z.int(), is_live: z.boolean(), route_config: looseDocument, created_by: z.string().nullable(), created_at: time })
  .meta({ id: 'PaymentRouteVersion' });

export const deletePaymentRouteShape = z.object({ message: z.string(), payment_route_id: z.string() }).meta({ id: 'DeletePaymentRouteResponse' });

export const routeEvaluationShape = z
  .object({
    route_id: z.string(),
    version: z.int(),
    rule: z.string().nullable(),
    strategy: z.string(),
    candidates: z.array(z.string()),
    skipped: z.array(z.object({ processor_id: z.string(), reason: z.string() })),
    order: z.array(z.string()),
    fallback: z.object({ on: z.array(z.string()), max_attempts: z.int() }),
  })
  .meta({ id: 'RouteEvaluation' });
