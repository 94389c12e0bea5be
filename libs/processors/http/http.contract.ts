import { z } from 'zod';

/** The whole contract is versioned by this number; `GET /check` tells it. */
export const contractVersion = 1;

const atoms = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const positive = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
const currency = z.string().regex(/^[a-z]{3}$/).describe('ISO 4217, lower case');
const reference = z.string().min(1).max(255);
const id = z.string().min(1).max(255);
const instant = z.iso.datetime({ offset: true }).describe('RFC 3339');
const text = z.string().max(1_000);
const credential = 'Any text of yours that proves the customer\'s consent; null: later payments need the customer present (no renewals)';

export const paymentRequest = z
  .object({
    reference: reference.describe('Names this payment for ever; look-ups and a void ask for it'),
    amount: positive.describe('In the smallest unit of the currency'),
    currency,
    capture: z.enum(['automatic', 'manual']).describe('`manual`: authorize only; the amount is captured by a later request'),
    payment_method: id.describe('An id that this provider answered to POST /payment-methods'),
    off_session: z.boolean().describe('The customer is absent: no challenge can be answered'),
    network_transaction_id: text.nullable().describe('Of an earlier payment in the customer\'s presence'),
    return_url: z.string().nullable().describe('Where the customer goes after a challenge'),
    callback_url: z.string().nullable().describe('Where to post what is learned later; null: nowhere'),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'PaymentRequest' });

export const captureRequest = z
  .object({ reference, amount: positive.describe('All or a part of what was authorized; the rest is released'), currency })
  .meta({ id: 'CaptureRequest' });

export const refundRequest = z.object({ reference, amount: positive, currency }).meta({ id: 'RefundRequest' });

export const voidRequest = z
  .object({
    reference,
    payment: id.nullable().describe('The payment\'s id, where it is known'),
    payment_reference: reference.describe('The payment\'s reference. Nothing there yet: a later payment with it is refused'),
  })
  .meta({ id: 'VoidRequest' });

export const paymentMethodRequest = z
  .object({ reference, token: z.string().min(1).max(8_192).describe('What your form or library in the browser returned') })
  .meta({ id: 'PaymentMethodRequest' });

export const verificationRequest = z
  .object({ reference, payment_method: id, amount: atoms.describe('0 asks about the card alone, whatever the currency'), currency })
  .meta({ id: 'VerificationRequest' });

export const declineShape = z
  .object({
    code: z.string().min(1).max(100).describe('A code of the table of declines; another one is read as `generic_decline`'),
    message: text.optional().describe('For an operator; never card data'),
    raw_code: z.string().max(100).nullable().optional().describe('The issuer\'s or acquirer\'s own code'),
    network: z
      .object({
        brand: z.string().max(32).describe('Scheme of the card: `visa`, `mastercard`, …'),
        response_code: z.string().max(8).nullable().optional().describe('Visa: response code (field 39)'),
        advice_code: z.string().max(8).nullable().optional().describe('Mastercard: merchant advice code'),
      })
      .nullable()
      .optional()
      .describe('What the card scheme says about trying again; Signalbox obeys it'),
  })
  .meta({ id: 'Decline' });
export type DeclineShape = z.infer<typeof declineShape>;

export const refundShape = z
  .object({
    id,
    reference: reference.nullable().describe('Of the refund request; null for one that was made elsewhere'),
    amount: positive,
    status: z.enum(['pending', 'succeeded', 'failed']),
  })
  .meta({ id: 'Refund' });

export const disputeShape = z
  .object({ id, reason: text.nullable(), amount: positive.nullable(), status: z.enum(['open', 'won', 'lost']) })
  .meta({ id: 'Dispute' });

export const paymentShape = z
  .object({
    object: z.literal('payment'),
    id,
    reference,
    status: z.enum(['authorized', 'captured', 'declined', 'pending', 'requires_action', 'voided']),
    amount: positive.describe('What was asked for'),
    amount_authorized: atoms.describe('What was approved; less than `amount` is a partial approval'),
    amount_captured: atoms,
    amount_refunded: atoms.describe('Refunds that succeeded'),
    currency,
    decline: declineShape.nullable(),
    network_transaction_id: text.nullable().describe(credential),
    redirect_url: z.url({ protocol: /^https?$/ }).max(2_000).nullable().describe('With `requires_action`: where the customer answers the challenge'),
    refunds: z.array(refundShape),
    disputes: z.array(disputeShape),
    created_at: instant,
  })
  .meta({ id: 'Payment' });
export type PaymentShape = z.infer<typeof paymentShape>;

export const operationShape = z
  .object({
    object: z.literal('operation'),
    id,
    kind: z.enum(['capture', 'void', 'refund']),
    reference,
    status: z.enum(['succeeded', 'pending', 'failed']),
    amount: atoms.describe('For a void: what was released'),
    currency: currency.nullable(),
    decline: declineShape.nullable().describe('Why it failed'),
    payment: paymentShape.nullable().describe('The payment after it; null for the void of a reference that has none'),
  })
  .meta({ id: 'Operation' });
export type OperationShape = z.infer<typeof operationShape>;

export const cardShape = z
  .object({
    brand: z.string().min(1).max(32),
    last4: z.string().regex(/^\d{4}$/),
    iin: z.string().regex(/^\d{6}$/).describe('The first six digits'),
    exp_month: z.int().min(1).max(12),
    exp_year: z.int().min(2000).max(2199),
    funding: z.enum(['credit', 'debit', 'prepaid', 'unknown']),
    country: z.string().regex(/^[A-Z]{2}$/).nullable().describe('ISO 3166 alpha-2'),
    issuer: z.string().max(200).nullable(),
    fingerprint: z.string().max(255).regex(/^(?!\d{12,19}$).+$/).describe('The same for the same card, and never its number'),
  })
  .meta({ id: 'Card' });

export const paymentMethodShape = z
  .object({ object: z.literal('payment_method'), id, card: cardShape.nullable().describe('null where it is no card') })
  .meta({ id: 'PaymentMethod' });

export const verificationShape = z
  .object({ object: z.literal('verification'), id, reference, amount: atoms, currency, network_transaction_id: text.nullable().describe(credential) })
  .meta({ id: 'Verification' });

export const checkShape = z
  .object({ object: z.literal('check'), contract: z.int().describe(`The version of this contract: ${contractVersion}`), name: text.describe('Shown to operators') })
  .meta({ id: 'Check' });

export const paymentListShape = z.object({ data: z.array(paymentShape) }).meta({ id: 'PaymentList' });
export const operationListShape = z.object({ data: z.array(operationShape) }).meta({ id: 'OperationList' });
export const paymentPageShape = z
  .object({ data: z.array(paymentShape), next_cursor: z.string().max(1_000).nullable().describe('null: this was the last page') })
  .meta({ id: 'PaymentPage' });

export const refusalShape = z
  .object({
    error: declineShape.extend({ code: z.string().min(1).max(100).describe('A code of the table of declines (402) or of refusals (else)') }),
    payment: paymentShape.nullable().optional().describe('402 to POST /payments: the declined payment'),
  })
  .meta({ id: 'Refusal' });

export const callbackShape = z
  .object({
    id: id.describe('The same event again has the same id'),
    type: z.string().min(1).max(100).describe('For operators: `payment.updated`, `refund.updated`, `dispute.opened`, …'),
    created_at: instant,
    payment: paymentShape.nullable().describe('The payment as it stood then; null for events that concern none'),
  })
  .meta({ id: 'Callback' });
