import { testCardOf } from '../processors/simulator/test-card.js';
import type { PaymentDeps } from './payment.deps.js';

/** Whether people may type card numbers here at all: only where the simulator is, and only its test cards. */
export function takesCardNumbers({ processors }: Pick<PaymentDeps, 'processors'>): boolean {
  return processors.supports('simulator');
}

/** Digits only. False for every number that is not a test card: it must not be logged, stored, hashed or sent. */
export function isAcceptedCard(number: string): boolean {
  return testCardOf(number) !== null;
}
