import { z } from 'zod';

const atoms = z.int().min(0);

export const paymentAnswer = z.object({
  object: z.literal('payment'),
  id: z.string().min(1),
  reference: z.string(),
  status: z.enum(['authorized', 'captured', 'declined', 'pending', 'requires_action', 'voided']),
  amount: atoms,
  amount_authorized: atoms,
  amount_captured: atoms,
  amount_refunded: atoms,
  currency: z.string(),
  decline_code: z.string().nullable(),
  network_transaction_id: z.string().nullable(),
  redirect_url: z.string().nullable(),
  disputed: z.boolean(),
});
export type PaymentAnswer = z.infer<typeof paymentAnswer>;

const operationStatus = z.enum(['pending', 'succeeded', 'failed']);

export const operationAnswer = z.object({
  object: z.literal('operation'),
  id: z.string().min(1),
  kind: z.enum(['capture', 'void', 'refund']),
  reference: z.string(),
  amount: atoms,
  currency: z.string().nullable(),
  status: operationStatus,
  failure_message: z.string().nullable(),
  payment: paymentAnswer.nullable(),
});
export type OperationAnswer = z.infer<typeof operationAnswer>;

export const verificationAnswer = z.object({
  object: z.literal('verification'),
  id: z.string().min(1),
  reference: z.string(),
  amount: atoms,
  currency: z.string(),
  network_transaction_id: z.string().nullable(),
});

export const paymentMethodAnswer = z.object({
  object: z.literal('payment_method'),
  id: z.string().min(1),
  card: z.object({
    brand: z.string(),
    last4: z.string().length(4),
    iin: z.string(),
    exp_month: z.int(),
    exp_year: z.int(),
    funding: z.enum(['credit', 'debit', 'prepaid', 'unknown']),
    country: z.string().nullable(),
    issuer: z.string().nullable(),
    fingerprint: z.string().min(1),
  }),
});

/** A refusal in the simulator's own format. A 402 also carries the declined payment. */
export const refusalAnswer = z.object({
  error: z.object({ code: z.string().min(1), message: z.string() }),
  payment: paymentAnswer.nullable().optional(),
});

/** A payment with all that belongs to it, as callbacks and the list tell it. */
export const toldPaymentAnswer = paymentAnswer.extend({
  created_at: z.iso.datetime(),
  refunds: z.array(
    z.object({
      id: z.string().min(1),
      /** Null: not asked for by the merchant's own system. */
      reference: z.string().nullable(),
      amount: atoms,
      status: operationStatus,
      failure_message: z.string().nullable(),
    }),
  ),
  disputes: z.array(z.object({ id: z.string().min(1), reason: z.string().nullable(), amount: atoms, status: z.enum(['open', 'won', 'lost']) })),
});
export type ToldPaymentAnswer = z.infer<typeof toldPaymentAnswer>;

export const callbackBody = z.object({ id: z.string().min(1), type: z.string().min(1), created_at: z.iso.datetime(), payment: toldPaymentAnswer });
export type CallbackBody = z.infer<typeof callbackBody>;

export const toldPaymentList = z.object({ data: z.array(toldPaymentAnswer), next: z.string().nullable() });

export const paymentList = z.object({ data: z.array(paymentAnswer) });
export const operationList = z.object({ data: z.array(operationAnswer) });
