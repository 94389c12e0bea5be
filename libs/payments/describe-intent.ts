import type { Tx } from '../db/client.js';
import { intentParts } from '../db/payment.queries.js';
import { updateIntent } from '../db/payment.writes.js';
import type { Change } from '../domain/change/change.js';
import { paymentIntentView, type PaymentIntentView } from '../views/payment-intent.view.js';
import { requireIntent, tellIntent } from './intent-change.js';
import { simulateOf } from './simulate-trigger.js';

export interface Description {
  intentId: string;
  /** Absent stays, null clears. */
  customFields?: Record<string, unknown> | null;
  metadata?: Record<string, unknown> | null;
  description?: string | null;
}

/** Changes what the caller wrote on the intent. Nothing changed: no event. */
export async function describeIntent(tx: Tx, change: Change, wanted: Description): Promise<PaymentIntentView> {
  const intent = await requireIntent(tx, change, wanted.intentId);
  const set = {
    ...(wanted.customFields === undefined ? {} : { customFields: wanted.customFields, simulate: simulateOf(wanted.customFields) }),
    ...(wanted.metadata === undefined ? {} : { metadata: wanted.metadata }),
    ...(wanted.description === undefined ? {} : { description: wanted.description }),
  };
  const changed = Object.entries(set).some(([key, value]) => JSON.stringify(value) !== JSON.stringify(intent[key as keyof typeof intent]));
  const after = changed ? await updateIntent(tx, intent.id, { ...set, version: intent.version + 1, updatedAt: new Date() }) : intent;
  if (changed) await tellIntent(tx, change, { type: 'payment_intent.updated', before: intent, after });
  return paymentIntentView(after, (await intentParts(tx, [after.id])).get(after.id)!, change.environment);
}
