import { z } from 'zod';
import { inAtoms } from './stripe.amount.js';

/** The parts of Stripe's objects that are read here, amounts in atoms; an answer without them is not in Stripe's format. */

const atoms = z.int().min(0);
const id = z.string().min(1);
/** A reference to another object: its id, or the object where it was expanded. */
const reference = z.union([id, z.object({ id })]).nullish();
const metadata = z.record(z.string(), z.string()).nullish().transform((value) => value ?? {});
const code = z.string().nullish();

/** Why a payment or a setup failed: the same fields in `last_payment_error`, `last_setup_error` and in errors. */
export const failureAnswer = z.object({
  type: code,
  code,
  decline_code: code,
  advice_code: code,
  network_advice_code: code,
  network_decline_code: code,
  message: code,
  payment_method: z.object({ card: z.object({ brand: code }).nullish() }).nullish(),
});
export type FailureAnswer = z.infer<typeof failureAnswer>;

export const refundAnswer = z.object({
  object: z.literal('refund'),
  id,
  amount: atoms,
  currency: z.string(),
  status: code,
  failure_reason: code,
  reason: code,
  balance_transaction: reference,
  metadata,
  payment_intent: reference,
}).transform((refund) => inAtoms(refund, ['amount']));
export type RefundAnswer = z.infer<typeof refundAnswer>;

export const chargeAnswer = z.object({
  object: z.literal('charge'),
  id,
  amount: atoms,
  amount_captured: atoms,
  amount_refunded: atoms,
  currency: z.string(),
  disputed: z.boolean(),
  created: z.int(),
  metadata,
  payment_intent: reference,
  /** `blocked`: Stripe's own fraud engine (Radar) refused; `reason: rule` when a rule of the account's did. */
  outcome: z.object({ type: code, reason: code }).nullish(),
  payment_method_details: z.object({ card: z.object({ network_transaction_id: code }).nullish() }).nullish(),
  refunds: z.object({ data: z.array(refundAnswer), has_more: z.boolean().nullish() }).nullish(),
}).transform((charge) => inAtoms(charge, ['amount', 'amount_captured', 'amount_refunded']));
export type ChargeAnswer = z.infer<typeof chargeAnswer>;

export const intentAnswer = z.object({
  object: z.literal('payment_intent'),
  id,
  amount: atoms,
  amount_capturable: atoms,
  amount_received: atoms,
  currency: z.string(),
  status: z.enum([
    'requires_payment_method', 'requires_confirmation', 'requires_action', 'processing', 'requires_capture', 'canceled', 'succeeded',
  ]),
  capture_method: z.string(),
  created: z.int(),
  metadata,
  customer: reference,
  payment_method: reference,
  setup_future_usage: code,
  last_payment_error: failureAnswer.nullish(),
  next_action: z.object({ redirect_to_url: z.object({ url: z.string().nullable() }).nullish() }).nullish(),
  latest_charge: z.union([id, chargeAnswer]).nullish(),
}).transform((intent) => inAtoms(intent, ['amount', 'amount_capturable', 'amount_received']));
export type IntentAnswer = z.infer<typeof intentAnswer>;

export const setupAnswer = z.object({
  object: z.literal('setup_intent'),
  id,
  status: z.string(),
  usage: code,
  last_setup_error: failureAnswer.nullish(),
});
export type SetupAnswer = z.infer<typeof setupAnswer>;

export const disputeAnswer = z.object({
  object: z.literal('dispute'),
  id,
  amount: atoms,
  currency: z.string(),
  reason: code,
  status: z.string(),
  payment_intent: reference,
}).transform((dispute) => inAtoms(dispute, ['amount']));
export type DisputeAnswer = z.infer<typeof disputeAnswer>;

export const methodAnswer = z.object({
  object: z.literal('payment_method'),
  id,
  type: z.string(),
  customer: reference,
  card: z
    .object({
      brand: z.string(),
      last4: z.string(),
      exp_month: z.int(),
      exp_year: z.int(),
      funding: z.string(),
      country: code,
      fingerprint: code,
      iin: code,
      issuer: code,
    })
    .nullish(),
});
export type MethodAnswer = z.infer<typeof methodAnswer>;

export const customerAnswer = z.object({ object: z.literal('customer'), id });
export const balanceAnswer = z.object({ object: z.literal('balance'), livemode: z.boolean() });

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), has_more: z.boolean() });
}

export const eventAnswer = z.object({
  object: z.literal('event'),
  id,
  type: z.string(),
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
});

export function idOf(value: string | { id: string } | null | undefined): string | null {
  return typeof value === 'string' ? value : (value?.id ?? null);
}
