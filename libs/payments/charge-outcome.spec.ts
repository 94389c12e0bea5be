import type { ChargeOperationRow, ChargeRow } from '../db/schema/index.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import type { IntentStatus } from '../domain/payment/payment-status.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import type { HeldPayment } from './held-payment.js';
import { operationOutcomeMove } from './operation-outcome.js';

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

describe('a challenge that is passed while it is released for another method', () => {
  const release = { id: 'release', chargeId: 'charge', type: 'void', purpose: 'release', status: 'pending', reference: 'pi-1-void-1', lookups: 0, nextLookupAt: null } as unknown as ChargeOperationRow;

  function passed(captureMethod: 'automatic' | 'manual') {
    const { held: before, charge } = heldWith('requires_action', 'action_required');
    const held = { ...before, intent: { ...before.intent, captureMethod, amountCapturableAtom: 0 }, operations: [release] };
    const move = chargeOutcomeMove(held, charge, { outcomeClass: 'approved', processorPaymentId: 'theirs' }, 'staging');
    const after = { ...held, intent: { ...held.intent, ...move.intent }, charges: [{ ...charge, ...move.charge!.set }] } as HeldPayment;
    const released = (outcomeClass: OutcomeClass) =>
      operationOutcomeMove(after, { operation: release, charge: after.charges[0]!, outcome: { outcomeClass } }, 'staging');
    return { move, released };
  }

  it('holds nothing that could be told, until its cancel has an answer', () => {
    const { move, released } = passed('manual');
    expect([move.intent, move.events.intent, move.charge!.set]).toMatchObject([undefined, undefined, { status: 'succeeded', authorizedAtom: 100, capturedAtom: 0 }]);
    expect(released('approved')).toMatchObject({ intent: { status: 'processing', amountCapturableAtom: 0 }, events: { charge: 'charge.voided' } });
    const kept = released('processor_error');
    expect(kept).toMatchObject({ intent: { status: 'requires_capture', amountCapturableAtom: 100 }, events: { intent: 'payment_intent.requires_capture' } });
  });

  it('is paid where it was captured with it', () => {
    const { move } = passed('automatic');
    expect(move).toMatchObject({ intent: { status: 'succeeded', amountReceivedAtom: 100 }, events: { intent: 'payment_intent.succeeded' } });
  });
});
