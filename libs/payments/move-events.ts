import { previousValues, type EventDraft } from '../db/event.writes.js';
import type { ChargeRow, DisputeRow } from '../db/schema/index.js';
import type { Environment } from '../domain/environment.js';
import { chargeView } from '../views/charge.view.js';
import { disputeView } from '../views/dispute.view.js';
import { paymentIntentView } from '../views/payment-intent.view.js';
import { refundView } from '../views/refund.view.js';
import { partsOf, type HeldPayment } from './held-payment.js';
import type { Move } from './move.js';

interface Shown {
  id: string;
  old: object | null;
  now: object;
}

interface Told {
  move: Move;
  environment: Environment;
}

/** The events that tell a move: one per changed object. */
export function eventsOf(before: HeldPayment, after: HeldPayment, { move, environment }: Told): EventDraft[] {
  const { charge, refund, dispute, intent } = move.events;
  const common = { customerId: after.intent.customerId, step: move.step };
  const drafts: EventDraft[] = [];
  const add = (type: string, kind: EventDraft['kind'], { id, old, now }: Shown) =>
    drafts.push({ type, kind, objectId: id, data: now, previous: old ? previousValues(old, now) : null, ...common });
  if (charge) add(charge, 'ch', shownCharge(before, after, { move, environment }));
  if (refund) add(refund, 're', shownRefund(before, after, { move, environment }));
  if (dispute) add(dispute, 'dp', shownDispute(before, after, { move, environment }));
  if (intent) {
    const view = (held: HeldPayment) => paymentIntentView(held.intent, partsOf(held), environment);
    add(intent, 'pi', { id: after.intent.id, old: view(before), now: view(after) });
  }
  return drafts;
}

function shownCharge(before: HeldPayment, after: HeldPayment, { move, environment }: Told): Shown {
  const id = move.newCharge?.id ?? move.charge!.id;
  const view = (held: HeldPayment) => {
    const row = chargeIn(held, id);
    return row ? chargeView(row, held.kinds.get(row.processorId) ?? null, environment) : null;
  };
  return { id, old: view(before), now: view(after)! };
}

function shownRefund(before: HeldPayment, after: HeldPayment, { move, environment }: Told): Shown {
  const id = move.newRefund?.id ?? move.refund!.id;
  const old = before.refunds.find((each) => each.id === id);
  const now = after.refunds.find((each) => each.id === id)!;
  return { id, old: old ? refundView(old, environment) : null, now: refundView(now, environment) };
}

function shownDispute(before: HeldPayment, after: HeldPayment, { move, environment }: Told): Shown {
  const id = move.newDispute?.id ?? move.dispute!.id;
  const view = (row: DisputeRow) => disputeView(row, chargeIn(after, row.chargeId)!, environment);
  const old = before.disputes.find((each) => each.id === id);
  return { id, old: old ? view(old) : null, now: view(after.disputes.find((each) => each.id === id)!) };
}

function chargeIn(held: HeldPayment, id: string): ChargeRow | undefined {
  return held.charges.find((charge) => charge.id === id);
}
