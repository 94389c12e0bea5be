import type { Tx } from '../db/client.js';
import { appendEvents, previousValues } from '../db/event.writes.js';
import { chargeOf, processorNames } from '../db/payment.queries.js';
import { updateCharge } from '../db/payment.writes.js';
import type { Change } from '../domain/change/change.js';
import { notFound } from '../errors/domain-error.js';
import { chargeView, type ChargeView } from '../views/charge.view.js';
import { requireIntent } from './intent-change.js';

/** Changes what the caller wrote on the charge. Absent stays, null clears; nothing changed: no event. */
export async function describeCharge(
  tx: Tx,
  change: Change,
  wanted: { chargeId: string; customFields?: Record<string, unknown> | null },
): Promise<ChargeView> {
  const found = await chargeOf(tx, change.accountId, wanted.chargeId);
  if (!found) throw notFound('charge');
  await requireIntent(tx, change, found.paymentIntentId);
  const charge = (await chargeOf(tx, change.accountId, wanted.chargeId))!;
  const kind = (await processorNames(tx, [charge.processorId])).get(charge.processorId)?.kind ?? null;
  const before = chargeView(charge, kind, change.environment);
  if (wanted.customFields === undefined || JSON.stringify(wanted.customFields) === JSON.stringify(charge.customFields)) return before;
  const set = { customFields: wanted.customFields, version: charge.version + 1, updatedAt: new Date() };
  await updateCharge(tx, charge.id, set);
  const after = chargeView({ ...charge, ...set }, kind, change.environment);
  await appendEvents(tx, change, [
    { type: 'charge.updated', kind: 'ch', objectId: charge.id, customerId: charge.customerId, data: after, previous: previousValues(before, after) },
  ]);
  return after;
}
