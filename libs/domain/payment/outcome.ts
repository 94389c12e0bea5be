import type { DeclineCode } from '../../errors/catalogue.js';
import type { RetryAdvice } from './network-advice.js';

/** What one call to a processor meant. The table of what may follow each class is in `outcome.rules.ts`. */
export const outcomeClasses = [
  'approved',
  'pending',
  'action_required',
  'soft_decline',
  'insufficient_funds',
  'hard_decline',
  'authentication_required',
  'risk_refused',
  'partial_approval',
  'not_sent',
  'processor_error',
  'mismatch',
  'unknown',
] as const;

export type OutcomeClass = (typeof outcomeClasses)[number];

/** What an adapter says about one call, in the words of this service. */
export interface AttemptOutcome {
  outcomeClass: OutcomeClass;
  /** The processor's own id of the payment, where it told one. */
  processorPaymentId?: string | null;
  /** Set for every refusal. */
  declineCode?: DeclineCode | null;
  /** The processor's own code and text, safe to show to an operator (never card data). */
  rawCode?: string | null;
  rawMessage?: string | null;
  /**
   * What the card scheme says about trying again: `never` forbids every later attempt with this card (Visa category 1,
   * Mastercard merchant advice 03 and 21), `later` advises to wait. Null or absent: nothing was said.
   */
  retryAdvice?: RetryAdvice | null;
  /** The scheme's own code behind `retryAdvice`. */
  networkAdviceCode?: string | null;
  /** What the processor says it approved, in atoms. */
  approvedAmountAtom?: number | null;
  /** For `action_required`: where to send the customer. */
  redirectUrl?: string | null;
  /** Reference that lets a later unattended charge use this credential. */
  networkTransactionId?: string | null;
}

/** Whether an attempt of this class still waits for its result. */
export function isUnresolved(outcomeClass: OutcomeClass): boolean {
  return outcomeClass === 'pending' || outcomeClass === 'action_required' || outcomeClass === 'unknown' || outcomeClass === 'mismatch';
}
