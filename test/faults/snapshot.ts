import type pg from 'pg';
import { publicId } from '../../libs/views/ids.js';
import type { Books, EventRow } from './records.js';
import { digestOf, toldBy } from './told.js';

const millis = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const queries = {
  intents: `select id, status, amount_atom::float8 amount, amount_capturable_atom::float8 capturable, amount_received_atom::float8 received,
      amount_refunded_atom::float8 refunded, currency, reference, invoice_id invoice, metadata, driver, settled, version,
      ${millis('next_action_at')} next_action, ${millis('lease_until')} lease_until
    from payment_intents where account_id = $1`,
  charges: `select id, payment_intent_id intent, processor_id processor, reference, status, outcome_class outcome, amount_atom::float8 amount,
      authorized_atom::float8 authorized, captured_atom::float8 captured, refunded_atom::float8 refunded, currency,
      processor_payment_id processor_payment, voided_at is not null voided, is_late late, ${millis('next_lookup_at')} next_lookup
    from charges where account_id = $1`,
  operations: `select id, payment_intent_id intent, charge_id charge, type, purpose, amount_atom::float8 amount, status, refund_id refund, reference,
      ${millis('next_lookup_at')} next_lookup from charge_operations where account_id = $1`,
  refunds: `select id, charge_id charge, payment_intent_id intent, amount_atom::float8 amount, status, refunded_out_of_band out_of_band,
      processor_refund_id processor_refund from refunds where account_id = $1`,
  invoices: `select id, subscription_id subscription, status, due_atom::float8 due, paid_atom::float8 paid, refunded_atom::float8 refunded,
      paid_out_of_band out_of_band, billing_reason reason, ${millis('period_start')} starts, ${millis('period_end')} ends
    from invoices where account_id = $1`,
  subscriptions: `select id, status, billing_status, charging_invoice_id charging, ${millis('next_action_at')} next_action
    from subscriptions where account_id = $1`,
  clocks: `select c.id, c.status, c.failure_reason reason, c.waiting_for waiting, ${millis('c.frozen_time')} frozen, (select ${millis('min(s.next_action_at)')} from subscriptions s
      where s.test_clock_id = c.id and s.status <> 'cancelled' and s.charging_invoice_id is null) next_action
    from test_clocks c where c.account_id = $1 and c.deleted_at is null`,
  deliveries: 'select id, event_id event, endpoint_id endpoint, status from webhook_deliveries where account_id = $1',
  endpoints: `select id, ${millis('created_at')} created from webhook_endpoints where account_id = $1`,
  attention: 'select type, object_id object from attention_items where account_id = $1 and resolved_at is null',
};

/** One account's rows by plain SQL, in one transaction that sees one moment. */
export async function readBooks(client: pg.ClientBase, account: string): Promise<Books> {
  const rows = async <T extends pg.QueryResultRow>(sql: string): Promise<T[]> => (await client.query<T>(sql, [account])).rows;
  await client.query('begin transaction isolation level repeatable read read only');
  try {
    const books = {} as Record<string, unknown>;
    for (const [name, sql] of Object.entries(queries)) books[name] = await rows(sql);
    const evidence = await rows<{ intent: string }>(`select e.payment_intent_id intent from attempt_evidence e
      join payment_intents i on i.id = e.payment_intent_id where i.account_id = $1 and e.applied_at is null`);
    const others = await rows<{ id: string; kind: 'cus' | 'pm' }>(`select id, 'cus' kind from customers where account_id = $1
      union all select id, 'pm' from payment_methods where account_id = $1`);
    return {
      ...(books as unknown as Books),
      account,
      events: await readEvents(client, account),
      evidence: evidence.map(({ intent }) => intent),
      others: others.map(({ id, kind }) => publicId(kind, 'staging', id)),
    };
  } finally {
    await client.query('commit');
  }
}

interface StoredEvent {
  id: string;
  type: string;
  object: string;
  sequence: number;
  head: string;
  data: string;
  created: number;
}

async function readEvents(client: pg.ClientBase, account: string): Promise<EventRow[]> {
  const { rows } = await client.query<StoredEvent>(
    `select id, type, object_id object, sequence, head, data, ${millis('created_at')} created from events where account_id = $1`,
    [account],
  );
  return rows.map(({ head, data, ...event }) => ({
    ...event,
    digest: digestOf(`${head.slice(0, -1)},"data":${data}}`),
    told: toldBy(JSON.parse(data)),
  }));
}

/** Connections of the account: what its payments are found by in the provider's ledger. */
export async function readConnections(client: pg.ClientBase, account: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>('select id from payment_processors where account_id = $1', [account]);
  return rows.map(({ id }) => id);
}
