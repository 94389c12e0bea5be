import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { eq, sql } from 'drizzle-orm';
import { startOf } from '../../apps/worker/src/subscription-start.js';
import { newId } from '../../libs/db/mint.js';
import { subscriptionItems, subscriptions, type SubscriptionRow } from '../../libs/db/schema/index.js';
import { wakeSubscriptionWorkflow } from '../../libs/temporal/subscription.client.js';
import { subscriptionRun, subscriptionWorkflowId } from '../../libs/contracts/subscription.contract.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { load } from './measure.js';
import { until, type Stage } from './stage.js';

const customersPerRun = 50;
const rowsPerInsert = 500;
const starters = 16;
const fourWeeksMs = 28 * 86_400_000;

export interface Crowd {
  count: number;
  /** The second in which they all fall due; null: they sleep in a trial of a month. */
  due: Date | null;
}

/**
 * Subscriptions by the thousand. The API makes one, the others are its copies, each with its own item and workflow and one of fifty
 * customers; answers once the workflows sleep. Due ones are four-weekly with a short first period, which cost nothing.
 */
export async function gather(stage: Stage, client: Client, { count, due }: Crowd): Promise<void> {
  const { db } = stage.database;
  const payers = await Promise.all(Array.from({ length: Math.min(customersPerRun, count) }, () => payer(stage)));
  const [model, item] = await modelOf(stage, payers[0]!, due);
  const rows = Array.from({ length: count - 1 }, (_, index): SubscriptionRow => ({
    ...model, id: newId(), customerId: parsePublicId('cus', 'staging', payers[index % payers.length]!)!,
  }));
  for (let at = 0; at < rows.length; at += rowsPerInsert) {
    const some = rows.slice(at, at + rowsPerInsert);
    await db.insert(subscriptions).values(some);
    await db.insert(subscriptionItems).values(some.map(({ id }) => ({ ...item, id: newId(), subscriptionId: id })));
  }
  const starts = rows.map((row) => startOf(row, 'staging'));
  const started = await load((index) => wakeSubscriptionWorkflow(client, starts[index]!), { callers: starters, operations: rows.length, seconds: 3_600 });
  if (started.errors > 0) throw new Error(`${started.errors} workflows did not start`);
  for (const { subscription } of starts.slice(-starters)) {
    const handle = client.workflow.getHandle(subscriptionWorkflowId(subscription));
    await until(async () => (await handle.query(subscriptionRun).catch(() => null)) !== null, { seconds: 300, everyMs: 200 });
  }
  if (due && Date.now() > due.getTime()) throw new Error('the subscriptions were not made in time');
}

async function modelOf(stage: Stage, customerId: string, due: Date | null) {
  const product = await stage.call('POST', '/products/', { name: 'bench', description: 'bench' });
  const price = await stage.call('POST', '/prices/', {
    product_id: product.id, price_type: 'recurring', pricing_model: 'standard', currency: 'usd', unit_amount_atom: 1000, billing_interval: 'week', billing_interval_count: 4, is_active: true,
  });
  const begin = due ? { starts_at: new Date(due.getTime() - 13 * fourWeeksMs).toISOString() } : { trial_period_days: 30 };
  const wish = { customer_id: customerId, selected_product_price_quantity: [{ price_id: price.id, quantity: 1 }], ...begin };
  const { created } = await stage.call('POST', '/subscriptions/', wish);
  const id = parsePublicId('sub', 'staging', created[0].id as string)!;
  await until(async () => (await read(stage, id)).chargingInvoiceId === null, { seconds: 60, everyMs: 100 });
  const [item] = await stage.database.db.select().from(subscriptionItems).where(eq(subscriptionItems.subscriptionId, id));
  return [await read(stage, id), item!] as const;
}

async function read(stage: Stage, id: string): Promise<SubscriptionRow> {
  const [row] = await stage.database.db.select().from(subscriptions).where(eq(subscriptions.id, id));
  return row!;
}

async function payer(stage: Stage): Promise<string> {
  const customer = await stage.call('POST', '/customers/', { email: `renews.${randomUUID()}@example.com` });
  const card = { number: '4242424242424242', exp_month: 12, exp_year: new Date().getUTCFullYear() + 2, cvc: '123' };
  const method = await stage.call('POST', '/payment-methods/', { card });
  await stage.call('POST', `/payment-methods/${method.id}/attach`, { customer_id: customer.id });
  await stage.call('PUT', `/customers/${customer.id}`, { default_payment_method_id: method.id });
  return customer.id as string;
}

/** Moves what fell due into the past, as if nobody had worked since. */
export async function fellDueBefore(stage: Stage, seconds: number): Promise<void> {
  const ago = sql`make_interval(secs => ${seconds})`;
  await stage.database.db.execute(sql`
    update subscriptions set anchor_at = anchor_at - ${ago}, current_period_start = current_period_start - ${ago},
           current_period_end = current_period_end - ${ago}, next_action_at = next_action_at - ${ago}
     where account_id = ${stage.account.id}`);
}
