import type { SimulatorOutcome } from './simulator-outcome.js';

/** A card number that only the simulator knows. No other number is accepted in staging. */
export interface TestCard {
  number: string;
  brand: 'visa' | 'mastercard' | 'amex';
  funding: 'credit' | 'debit';
  atAuthorisation: SimulatorOutcome;
  atCharge: SimulatorOutcome;
  /** For a card that challenges: the outcome once the customer has passed. */
  afterChallenge?: 'approved' | 'insufficient_funds';
}

function card(number: string, atAuthorisation: SimulatorOutcome, atCharge: SimulatorOutcome, more: Partial<TestCard> = {}): TestCard {
  return { number, brand: 'visa', funding: 'credit', atAuthorisation, atCharge, ...more };
}

export const testCards: readonly TestCard[] = [
  card('4242424242424242', 'approved', 'approved'),
  card('5555555555554444', 'approved', 'approved', { brand: 'mastercard' }),
  card('378282246310005', 'approved', 'approved', { brand: 'amex' }),
  card('4000000000000002', 'do_not_honor', 'do_not_honor'),
  card('4000000000000341', 'approved', 'do_not_honor'),
  card('4000000000009995', 'approved', 'insufficient_funds', { funding: 'debit' }),
  card('4000000000009987', 'lost_card', 'lost_card'),
  card('4000000000009979', 'stolen_card', 'stolen_card'),
  card('4000000000000069', 'expired_card', 'expired_card'),
  card('4000000000000127', 'incorrect_cvc', 'incorrect_cvc'),
  card('4100000000000019', 'approved', 'suspected_fraud'),
  card('4000000000000119', 'approved', 'processing_error'),
  card('4000002760003184', 'approved', 'challenge', { afterChallenge: 'approved' }),
  card('4000008260003178', 'approved', 'challenge', { afterChallenge: 'insufficient_funds' }),
  card('4000000000000259', 'approved', 'disputed'),
];

const byNumber = new Map(testCards.map((entry) => [entry.number, entry]));

export function testCardOf(number: string): TestCard | null {
  return byNumber.get(number) ?? null;
}
