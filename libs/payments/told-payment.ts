import type { ChargeOperationRow, ChargeRow } from '../db/schema/index.js';
import type { Environment } from '../domain/environment.js';
import type { ToldPayment } from '../processors/port.js';
import type { HeldPayment } from './held-payment.js';
import type { Move } from './move.js';

/** What a processor says about one of the payment's charges, beside what is known of it. */
export interface Telling {
  held: HeldPayment;
  charge: ChargeRow;
  told: ToldPayment;
  environment: Environment;
}

/**
 * One thing that a telling may change. Null: nothing of it is new. What is told may be old, so a fact only ever moves up
 * its order: then every order of tellings ends in the same state.
 */
export type Fact = (telling: Telling) => Move | null;

/** Something that a person must look at; it changes no state. */
export type Note = (telling: Telling) => NonNullable<Move['attention']> | null;

export function pendingOperation({ held, charge }: Telling, type: ChargeOperationRow['type']): ChargeOperationRow | undefined {
  return held.operations.find((each) => each.chargeId === charge.id && each.type === type && each.status === 'pending');
}

/** Another amount or currency than was asked; null if they agree. */
export function differenceOf({ charge, told }: Telling): string | null {
  if (told.currency !== charge.currency) return `currency ${told.currency} instead of ${charge.currency}`;
  if (told.amountAtom !== null && told.amountAtom !== charge.amountAtom) return `amount ${told.amountAtom} instead of ${charge.amountAtom}`;
  return told.outcome.outcomeClass === 'mismatch' ? (told.outcome.rawMessage ?? 'no detail') : null;
}

/** The processor made a second payment under the charge's reference: what is told is about that one. */
export function isAnotherPayment({ charge, told }: Telling): boolean {
  return charge.status === 'succeeded' && charge.processorPaymentId !== null && charge.processorPaymentId !== told.processorPaymentId;
}

export function isCurrentSuccess({ held, charge }: Telling): boolean {
  return held.intent.status === 'requires_capture' && held.intent.lastChargeId === charge.id && !charge.isLate;
}
