import type { ChargeRow } from '../db/schema/index.js';
import type { IntentStatus } from '../domain/payment/payment-status.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import type { HeldPayment } from './held-payment.js';

const at = new Date('2030-01-01T00:00:00Z');

function heldWith(status: IntentStatus, outcomeClass: ChargeRow['outcomeClass']): { held: HeldPayment; charge: ChargeRow } {
  const charge = {
    id: 'charge', paymentIntentId: 'intent', attemptNumber: 1, confirmation: 1, processorId: 'p', amountAtom: 100, currency: 'eur', status: 'pending',
    outcomeClass, reference: 'pi-1', lookups: 0, nextLookupAt: at, redirectUrl: null, decision: { order: [], fallback: { on: [], max_attempts: 1 } }, createdAt: at,
  } as unknown as ChargeRow;
  const intent = { id: 'intent', status, captureMethod: 'automatic', initiator: 'customer', confirmation: 1 };
  const held = { clock: () => at.getTime(), lookupOffsets: [5_000], intent, charges: [charge], operations: [], refunds: [] } as unknown as HeldPayment;
  return { held, charge };
}

const challenge = { outcomeClass: 'action_required', redirectUrl: 'https://bank.example/1' } as const;

describe('a challenge', () => {
  it.each<[what: string, status: IntentStatus, known: ChargeRow['outcomeClass'], told: object]>([
    ['is told when it is first seen', 'processing', null, { charge: 'charge.pending', intent: 'payment_intent.requires_action' }],
    ['that could not be released for another processor is told as the payment\'s after all', 'processing', 'action_required', { intent: 'payment_intent.requires_action' }],
    ['that is still open is not told again', 'requires_action', 'action_required', {}],
  ])('%s', (_what, status, known, told) => {
    const { held, charge } = heldWith(status, known);
    const move = chargeOutcomeMove(held, charge, challenge, 'staging');
    expect(move.intent).toMatchObject({ status: 'requires_action' });
    expect(JSON.parse(JSON.stringify(move.events))).toEqual(told);
  });
});
