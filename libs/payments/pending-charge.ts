import { newId } from '../db/mint.js';
import type { ChargeRow, PaymentIntentRow } from '../db/schema/index.js';

type Known = 'attemptNumber' | 'confirmation' | 'processorId' | 'reference' | 'idempotencyKey' | 'leaseToken' | 'firstSentAt' | 'decision';

/** An attempt without outcome, as it is written before anything is sent. `at`: when it begins. */
export function pendingCharge(intent: PaymentIntentRow, { at, ...known }: Pick<ChargeRow, Known> & Partial<ChargeRow> & { at: Date }): ChargeRow {
  return {
    id: newId(),
    accountId: intent.accountId,
    paymentIntentId: intent.id,
    customerId: intent.customerId,
    invoiceId: intent.invoiceId,
    subscriptionId: intent.subscriptionId,
    paymentMethodId: intent.paymentMethodId!,
    amountAtom: intent.amountAtom,
    currency: intent.currency,
    status: 'pending',
    outcomeClass: null,
    processorPaymentId: null,
    declineCode: null,
    failureMessage: null,
    rawCode: null,
    rawMessage: null,
    retryAdvice: null,
    networkAdviceCode: null,
    fingerprint: null,
    authorizedAtom: 0,
    capturedAtom: 0,
    refundedAtom: 0,
    voidedAt: null,
    isLate: false,
    disputed: false,
    callBy: at,
    requestSealed: null,
    lookups: 0,
    nextLookupAt: null,
    sendingClosedAt: null,
    absentAt: null,
    redirectUrl: null,
    customFields: null,
    processorMetadata: null,
    reconciledAt: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
    ...known,
  };
}
