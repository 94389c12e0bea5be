import { eq, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { BreakerCount } from '../domain/route/breaker.js';
import { paymentProcessorView } from '../views/payment-processor.view.js';
import { raiseAttention, settleAttention } from './attention.writes.js';
import type { Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { paymentProcessors, type PaymentProcessorRow } from './schema/index.js';

const attention = 'processor_degraded';

/**
 * Notes that a breaker opened: once, whichever process finds it first. Event `payment_processor.degraded` and a line on
 * the attention list. Answers the row's version; a connection that is deleted or degraded already stays as it is.
 */
export async function markDegraded(
  tx: Tx,
  change: Change,
  { id, count, at }: { id: string; count: BreakerCount | null; at: Date },
): Promise<number> {
  const written = await mark(tx, change, { id, degradedAt: at, type: 'payment_processor.degraded' });
  if (written.changed) {
    const what = count ? `${count.bad} of its last ${count.samples} calls failed or took too long` : 'its calls failed or took too long';
    const line = { accountId: change.accountId, type: attention, kind: 'processor', objectId: id };
    await raiseAttention(
      tx,
      {
        ...line,
        reason: `The connection "${written.name}" is set aside: ${what}. Payments go to the other connections of their route; a few go there to find out whether it works again.`,
        details: count ? { samples: count.samples, bad: count.bad } : null,
        actions: ['Check the connection and the processor\'s own status page.', 'Nothing is to be done if it recovers by itself: this line then closes.'],
      },
      at,
    );
  }
  return written.version;
}

/** Notes that the connection takes its share again, once. Event `payment_processor.recovered`; the attention line closes. */
export async function markRecovered(tx: Tx, change: Change, { id, at }: { id: string; at: Date }): Promise<number> {
  const written = await mark(tx, change, { id, degradedAt: null, type: 'payment_processor.recovered' });
  if (written.changed) await settleAttention(tx, { type: attention, objectId: id, resolution: 'The connection works again.' }, at);
  return written.version;
}

interface Mark {
  id: string;
  degradedAt: Date | null;
  type: 'payment_processor.degraded' | 'payment_processor.recovered';
}

async function mark(tx: Tx, change: Change, { id, degradedAt, type }: Mark): Promise<{ changed: boolean; version: number; name: string }> {
  const [before] = await tx.select().from(paymentProcessors).where(eq(paymentProcessors.id, id)).for('update');
  const stands = !before || before.deletedAt !== null || (before.degradedAt === null) === (degradedAt === null);
  if (stands) return { changed: false, version: before?.version ?? 0, name: before?.name ?? '' };
  const [row] = await tx
    .update(paymentProcessors)
    .set({ degradedAt, version: sql`${paymentProcessors.version} + 1`, updatedAt: new Date() })
    .where(eq(paymentProcessors.id, id))
    .returning();
  const view = (each: PaymentProcessorRow) => paymentProcessorView(each, change.environment);
  const data = view(row!);
  await appendEvents(tx, change, [{ type, kind: 'processor', objectId: id, data, previous: previousValues(view(before), data) }]);
  return { changed: true, version: row!.version, name: row!.name };
}
