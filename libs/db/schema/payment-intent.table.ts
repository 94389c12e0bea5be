import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, atoms, id, instant, object, stamps, tick } from './columns.js';

export type PaymentIntentStatus =
  | 'requires_confirmation'
  | 'requires_payment_method'
  | 'requires_action'
  | 'requires_capture'
  | 'processing'
  | 'canceled'
  | 'succeeded'
  | 'exception';

/**
 * The wish to collect. Moved by `advancePayment` alone, under the lease in the `lease_*` columns; the sweeper reads
 * `payment_intents_driver`, lookups and windows read `payment_intents_due`.
 */
export const paymentIntents = pgTable(
  'payment_intents',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid(),
    amountAtom: atoms().notNull(),
    amountCapturableAtom: atoms().notNull().default(0),
    amountReceivedAtom: atoms().notNull().default(0),
    amountRefundedAtom: atoms().notNull().default(0),
    currency: text().notNull(),
    status: text().$type<PaymentIntentStatus>().notNull(),
    captureMethod: text().$type<'automatic' | 'manual'>().notNull().default('automatic'),
    initiator: text().$type<'customer' | 'merchant'>().notNull(),
    subscriptionPayment: text().$type<'first' | 'later'>(),
    paymentMethodId: uuid(),
    paymentRouteId: uuid(),
    invoiceId: uuid(),
    subscriptionId: uuid(),
    paymentLinkId: uuid(),
    /** Business identity; the processors' references and keys are made from it and the attempt number. */
    reference: text().notNull(),
    /** Trigger for the simulator: a name or a map from connection to name. */
    simulate: jsonb().$type<string | Record<string, string>>(),
    description: text(),
    customFields: object(),
    metadata: object(),
    returnUrl: text(),
    redirectUrl: text(),
    declineCode: text(),
    declineReason: text(),
    lastChargeId: uuid(),
    attempts: integer().notNull().default(0),
    /** Rises with each confirm: candidates are counted within one confirmation. */
    confirmation: integer().notNull().default(0),
    /** Why no attempt could begin; attempts carry their own. */
    decision: object(),
    execution: text().$type<'workflow' | 'inline'>().notNull().default('workflow'),
    driver: text().$type<'api' | 'workflow'>().notNull(),
    leaseOwner: text(),
    leaseToken: bigint({ mode: 'number' }).notNull().default(0),
    leaseUntil: tick(),
    wakeSeq: bigint({ mode: 'number' }).notNull().default(0),
    /** When something is due without anybody asking: a lookup, the end of a capture window. */
    nextActionAt: instant(),
    /** No work is left: final status or at rest, no unresolved attempt or money operation. */
    settled: boolean().notNull().default(false),
    /** Since when it waits for stops to be lifted, and for which ones; it goes on when the restart lets it go. */
    stoppedAt: instant(),
    stoppedBy: uuid().array(),
    lastRefundAt: instant(),
    canceledAt: instant(),
    ...stamps(),
  },
  (t) => [
    index('payment_intents_account').on(t.accountId, t.id),
    index('payment_intents_customer').on(t.customerId, t.id),
    index('payment_intents_driver').on(t.id).where(sql`driver = 'api' and not settled`),
    index('payment_intents_due').on(t.nextActionAt).where(sql`not settled`),
    index('payment_intents_stopped').on(t.accountId, t.id).where(sql`stopped_at is not null`),
    uniqueIndex('payment_intents_invoice').on(t.invoiceId).where(sql`invoice_id is not null and status <> 'canceled'`),
    uniqueIndex('payment_intents_reference').on(t.accountId, t.reference),
    check('payment_intents_amount', sql`amount_atom > 0`),
    check('payment_intents_received', sql`amount_received_atom <= amount_atom and amount_refunded_atom <= amount_received_atom`),
  ],
);

/** One attempt at one processor. */
export const charges = pgTable(
  'charges',
  {
    id: id(),
    accountId: accountId(),
    paymentIntentId: uuid().notNull().references(() => paymentIntents.id),
    customerId: uuid(),
    invoiceId: uuid(),
    subscriptionId: uuid(),
    attemptNumber: integer().notNull(),
    confirmation: integer().notNull(),
    processorId: uuid().notNull(),
    paymentMethodId: uuid().notNull(),
    amountAtom: atoms().notNull(),
    currency: text().notNull(),
    status: text().$type<'pending' | 'succeeded' | 'failed'>().notNull(),
    outcomeClass: text(),
    /** What the processor knows the attempt by. */
    reference: text().notNull(),
    idempotencyKey: text().notNull(),
    processorPaymentId: text(),
    declineCode: text(),
    failureMessage: text(),
    rawCode: text(),
    rawMessage: text(),
    /** `never` forbids every later attempt with this card. */
    retryAdvice: text().$type<'never' | 'later'>(),
    networkAdviceCode: text(),
    /** The processor's own mark of the card that was charged: equal for the same card. */
    fingerprint: text(),
    authorizedAtom: atoms().notNull().default(0),
    capturedAtom: atoms().notNull().default(0),
    /** Reserved by refunds that did not definitely fail. */
    refundedAtom: atoms().notNull().default(0),
    voidedAt: instant(),
    /** A success that came after the payment was settled otherwise: refunded once and reported. */
    isLate: boolean().notNull().default(false),
    disputed: boolean().notNull().default(false),
    leaseToken: bigint({ mode: 'number' }).notNull(),
    callBy: tick().notNull(),
    firstSentAt: instant(),
    /** The exact request, encrypted. */
    requestSealed: text(),
    lookups: integer().notNull().default(0),
    nextLookupAt: instant(),
    /** From here on nothing is sent again: only reads and cancels. */
    sendingClosedAt: instant(),
    /** First strongly consistent read, `settle_after` past the last send, that did not find the charge. */
    absentAt: instant(),
    /** Why this processor: version, rule, candidates, who was skipped and why, order, reason of the fallback. */
    decision: object().notNull(),
    redirectUrl: text(),
    customFields: object(),
    processorMetadata: object(),
    /** When a reconciliation last found it at the processor. */
    reconciledAt: instant(),
    ...stamps(),
  },
  (t) => [
    uniqueIndex('charges_attempt').on(t.paymentIntentId, t.attemptNumber),
    uniqueIndex('charges_unresolved').on(t.paymentIntentId).where(sql`status = 'pending'`),
    uniqueIndex('charges_success').on(t.paymentIntentId).where(sql`status = 'succeeded' and voided_at is null and not is_late`),
    uniqueIndex('charges_reference').on(t.processorId, t.reference),
    index('charges_account').on(t.accountId, t.id),
    index('charges_method').on(t.paymentMethodId, t.createdAt).where(sql`status = 'failed'`),
    index('charges_fingerprint').on(t.processorId, t.fingerprint, t.createdAt).where(sql`status = 'failed' and fingerprint is not null`),
    index('charges_never_method').on(t.paymentMethodId).where(sql`retry_advice = 'never'`),
    index('charges_never_fingerprint').on(t.processorId, t.fingerprint).where(sql`retry_advice = 'never' and fingerprint is not null`),
    index('charges_processor_payment').on(t.processorId, t.processorPaymentId).where(sql`processor_payment_id is not null`),
    check('charges_captured', sql`captured_atom <= authorized_atom`),
    check('charges_refunded', sql`refunded_atom <= captured_atom and refunded_atom >= 0`),
  ],
);

/** A capture, void or refund of a charge: one at a time, under the payment's lease. */
export const chargeOperations = pgTable(
  'charge_operations',
  {
    id: id(),
    accountId: accountId(),
    paymentIntentId: uuid().notNull(),
    chargeId: uuid().notNull().references(() => charges.id),
    type: text().$type<'capture' | 'void' | 'refund'>().notNull(),
    /** What the confirmed operation means for the payment. */
    purpose: text().$type<'capture' | 'refund' | 'cancel' | 'release' | 'expire' | 'partial' | 'late'>().notNull(),
    processorOperationId: text(),
    amountAtom: atoms().notNull(),
    status: text().$type<'pending' | 'succeeded' | 'failed'>().notNull(),
    refundId: uuid(),
    reference: text().notNull(),
    firstSentAt: instant(),
    callBy: tick(),
    lookups: integer().notNull().default(0),
    nextLookupAt: instant(),
    failureCode: text(),
    failureMessage: text(),
    commandId: uuid().notNull(),
    ...stamps(),
  },
  (t) => [
    uniqueIndex('charge_operations_pending').on(t.chargeId).where(sql`status = 'pending'`),
    uniqueIndex('charge_operations_reference').on(t.chargeId, t.reference),
    index('charge_operations_intent').on(t.paymentIntentId, t.id),
  ],
);

/** An outcome that arrived after its holder had lost the lease: applied by the next holder. */
export const attemptEvidence = pgTable(
  'attempt_evidence',
  {
    id: id(),
    paymentIntentId: uuid().notNull(),
    chargeId: uuid().notNull(),
    operationId: uuid(),
    leaseToken: bigint({ mode: 'number' }).notNull(),
    outcome: object().notNull(),
    createdAt: instant().notNull(),
    appliedAt: instant(),
  },
  (t) => [index('attempt_evidence_open').on(t.paymentIntentId).where(sql`applied_at is null`)],
);

export type PaymentIntentRow = typeof paymentIntents.$inferSelect;
export type ChargeRow = typeof charges.$inferSelect;
export type ChargeOperationRow = typeof chargeOperations.$inferSelect;
export type AttemptEvidenceRow = typeof attemptEvidence.$inferSelect;
