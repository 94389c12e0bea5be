import { newId } from '../db/mint.js';
import type { DisputeRow } from '../db/schema/index.js';
import { countsAsDisputed, isLaterDispute } from '../domain/payment/told.rules.js';
import type { ToldDispute } from '../processors/port.js';
import type { Move } from './move.js';
import type { Fact, Telling } from './told-payment.js';

/** The type of the line that stands while a dispute is open. */
export const openDisputeAttention = 'dispute_open';

/** A dispute that was opened, won or lost. */
export const disputeFact: Fact = (telling) => {
  for (const told of telling.told.disputes) {
    const known = telling.held.disputes.find((each) => each.chargeId === telling.charge.id && each.theirDisputeId === told.processorDisputeId);
    if (!known) return opened(telling, told);
    const move = changed(telling, known, told);
    if (move) return move;
  }
  return null;
};

function opened(telling: Telling, told: ToldDispute): Move {
  const { held, charge } = telling;
  const at = new Date(held.clock());
  const row: DisputeRow = {
    id: newId(),
    accountId: charge.accountId,
    paymentIntentId: charge.paymentIntentId,
    chargeId: charge.id,
    customerId: charge.customerId,
    theirDisputeId: told.processorDisputeId,
    status: told.status,
    reason: told.reason,
    amountAtom: told.amountAtom,
    metadata: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  return {
    step: `dispute:${told.processorDisputeId}:${told.status}`,
    newDispute: row,
    ...chargeOf(telling, row),
    attention: told.status === 'open' ? { kind: 'dp', objectId: row.id, ...disputeLine(row) } : undefined,
  };
}

function changed(telling: Telling, known: DisputeRow, told: ToldDispute): Move | null {
  const later = isLaterDispute(told.status, known.status);
  const filled = { reason: known.reason ?? told.reason, amountAtom: known.amountAtom ?? told.amountAtom };
  if (!later && filled.reason === known.reason && filled.amountAtom === known.amountAtom) return null;
  const row = { ...known, ...filled, status: later ? told.status : known.status };
  const { events, ...charge } = chargeOf(telling, row);
  return {
    step: `dispute:${told.processorDisputeId}:${row.status}:${known.version}`,
    dispute: { id: known.id, set: { ...filled, status: row.status } },
    ...charge,
    closes: row.status === 'open' ? undefined : [{ type: openDisputeAttention, objectId: known.id, resolution: `The dispute was ${row.status}.` }],
    events: { ...events, dispute: 'dispute.updated' },
  };
}

/** The charge with its mark, where that changes. */
function chargeOf({ held, charge }: Telling, row: DisputeRow): Pick<Move, 'charge' | 'events'> {
  const others = held.disputes.filter((each) => each.chargeId === charge.id && each.id !== row.id);
  const disputed = countsAsDisputed([...others, row].map((each) => each.status));
  if (disputed === charge.disputed) return { events: { dispute: 'dispute.created' } };
  return { charge: { id: charge.id, set: { disputed } }, events: { dispute: 'dispute.created', charge: 'charge.updated' } };
}

/** What the attention list says of an open dispute. */
export function disputeLine({ reason, amountAtom }: Pick<DisputeRow, 'reason' | 'amountAtom'>) {
  const about = amountAtom === null ? '' : ` over ${amountAtom} atoms`;
  return {
    type: openDisputeAttention,
    reason: `A dispute${about} is open${reason ? `: ${reason}` : ''}.`,
    actions: ['Answer it in the processor\'s own dashboard before its deadline; the line closes when it is won or lost.'],
  };
}
