import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { untold } from './ledger.js';

/** What still moves by itself. Waits for the customer, for a capture, for a person or for a lookup tomorrow are rest. */
const moving = `
  select
    (select count(*) from payment_intents i where not i.settled and i.status not in ('requires_capture', 'requires_action')
       and (i.next_action_at is null or i.next_action_at < clock_timestamp() + interval '5 minutes')
       and not exists (select 1 from attention_items a where a.object_id = i.id and a.resolved_at is null))::int payments,
    (select count(*) from payment_intents i where not i.settled and (i.driver = 'api' or i.lease_until > clock_timestamp()
       or i.next_action_at < clock_timestamp() + interval '5 minutes'))::int due,
    (select count(*) from charge_operations o where o.status = 'pending'
       and (o.next_lookup_at is null or o.next_lookup_at < clock_timestamp() + interval '5 minutes')
       and not exists (select 1 from attention_items a where a.object_id = o.payment_intent_id and a.resolved_at is null))::int operations,
    (select count(*) from subscriptions s where s.status <> 'cancelled'
       and (s.next_action_at < clock_timestamp() + interval '2 minutes' or (s.charging_invoice_id is not null and not exists (
         select 1 from payment_intents i where i.invoice_id = s.charging_invoice_id
           and (i.status = 'exception' or i.next_action_at > clock_timestamp() + interval '5 minutes')))))::int subscriptions,
    (select count(*) from test_clocks c where c.status = 'advancing' and c.deleted_at is null and not exists (
       select 1 from subscriptions s join payment_intents i on i.invoice_id = s.charging_invoice_id
        where s.id = c.waiting_for and (i.status = 'exception' or i.next_action_at > clock_timestamp() + interval '5 minutes')))::int clocks,
    (select count(*) from processor_callbacks where applied_at is null and payment_intent_id is not null)::int unapplied,
    (select count(*) from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
      where d.status = 'pending' and e.status = 'enabled' and e.deleted_at is null)::int deliveries`;

export interface Standing {
  payments: number;
  due: number;
  operations: number;
  subscriptions: number;
  clocks: number;
  /** Callbacks that were stored and not applied. */
  unapplied: number;
  deliveries: number;
  /** Things that the provider has not been able to tell. */
  callbacks: number;
}

export interface RestOptions {
  /** The provider's file. */
  ledger: string;
  patienceMs: number;
  told: (text: string) => void;
}

/** Waits until nothing moves any more; answers what still did when the patience was over, else null. */
export async function untilAtRest(client: pg.ClientBase, { ledger, patienceMs, told }: RestOptions): Promise<Standing | null> {
  let last: Standing | null = null;
  let quiet = 0;
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    const { rows } = await client.query<Omit<Standing, 'callbacks'>>(moving);
    last = { ...rows[0]!, callbacks: untold(ledger) };
    quiet = Object.values(last).every((count) => count === 0) ? quiet + 1 : 0;
    if (quiet === 3) return null;
    told(`waiting for rest: ${last.payments} payments, ${last.operations} operations, ${last.subscriptions} subscriptions, ${last.clocks} clocks, ${last.due} due, ${last.deliveries} deliveries, ${last.callbacks} callbacks`);
    await pause(1_000);
  }
  return last;
}
