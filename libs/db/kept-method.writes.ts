import { and, asc, eq, isNotNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import type { SubscriptionCommand } from '../domain/subscription/subscription.command.js';
import type { Db, Tx } from './client.js';
import { derivedId } from './mint.js';
import { paymentLinkAttempts, subscriptions, type SubscriptionRow } from './schema/index.js';

/** A card that a payer asked to keep, whose payment succeeded: its subscription is to be paid with it from now on. */
export interface KeptMethod {
  attemptId: string;
  subscription: SubscriptionRow;
  change: Change;
  command: SubscriptionCommand;
}

/** Written with the payment itself, so that no crash after it forgets the wish. */
export async function wishToKeep(tx: Tx, { attemptId, paymentMethodId }: { attemptId: string; paymentMethodId: string }): Promise<void> {
  await tx.update(paymentLinkAttempts).set({ keepsMethodId: paymentMethodId }).where(eq(paymentLinkAttempts.id, attemptId));
}

/** That very card paid; what ended otherwise leaves nothing to keep. */
const paidWithIt = sql`exists (select 1 from charges c where c.payment_intent_id = ${paymentLinkAttempts.paymentIntentId}
  and c.payment_method_id = ${paymentLinkAttempts.keepsMethodId} and c.status = 'succeeded' and c.voided_at is null and not c.is_late)`;
const stillTheirs = sql`exists (select 1 from payment_methods m where m.id = ${paymentLinkAttempts.keepsMethodId}
  and m.customer_id = ${subscriptions.customerId} and m.status = 'attached')`;
const ofInvoice = sql`${subscriptions.id} = (select i.subscription_id from payment_intents p join invoices i on i.id = p.invoice_id
  where p.id = ${paymentLinkAttempts.paymentIntentId})`;

/**
 * What the API or, after its crash, the worker's loop tells the subscriptions' workflows: the command is the same whoever sends
 * it, so it takes effect once. Uses `payment_link_attempts_keeps`.
 */
export async function methodsToKeep(db: Db, environment: Environment, { attemptId, requestId = null, limit = 1 }: { attemptId?: string; requestId?: string | null; limit?: number }): Promise<KeptMethod[]> {
  const rows = await db
    .select({ attempt: { id: paymentLinkAttempts.id, methodId: paymentLinkAttempts.keepsMethodId }, subscription: subscriptions })
    .from(paymentLinkAttempts)
    .innerJoin(subscriptions, ofInvoice)
    .where(and(isNotNull(paymentLinkAttempts.keepsMethodId), sql`${subscriptions.status} <> 'cancelled'`, paidWithIt, stillTheirs, attemptId === undefined ? undefined : eq(paymentLinkAttempts.id, attemptId)))
    .orderBy(asc(paymentLinkAttempts.id))
    .limit(limit);
  return rows.map(({ attempt, subscription }) => ({
    attemptId: attempt.id,
    subscription,
    change: {
      accountId: subscription.accountId,
      environment,
      actor: 'system',
      requestId,
      idempotencyKey: null,
      commandId: derivedId('invoice page keeps method', attempt.id),
      clockTime: null,
    },
    command: { type: 'update', paymentMethodId: attempt.methodId },
  }));
}

/** The subscription has its method. */
export async function methodKept(db: Db, attemptId: string): Promise<void> {
  await db.update(paymentLinkAttempts).set({ keepsMethodId: null }).where(eq(paymentLinkAttempts.id, attemptId));
}

/** Wishes whose payment ended without the card, whose card was taken away, or whose subscription has ended; answers how many. */
export async function forgetVainWishes(db: Db): Promise<number> {
  const result = await db.execute(sql`
    update payment_link_attempts set keeps_method_id = null
     where id in (
       select payment_link_attempts.id from payment_link_attempts
         left join payment_intents p on p.id = payment_link_attempts.payment_intent_id
         left join invoices i on i.id = p.invoice_id
         left join subscriptions on subscriptions.id = i.subscription_id
        where payment_link_attempts.keeps_method_id is not null
          and (subscriptions.id is null or subscriptions.status = 'cancelled' or (p.settled and (not ${paidWithIt} or not ${stillTheirs}))))`);
  return result.rowCount ?? 0;
}
