import { createHmac, randomUUID } from 'node:crypto';
import { and, asc, eq } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { processorCallbacks, type ProcessorCallbackRow } from '../../libs/db/schema/index.js';
import { parsePublicId, type IdKind } from '../../libs/views/ids.js';
import type { Answer } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';
import { cardOf, chargesOf, pay, type Shop, type Wish } from '../payments/shop.js';

/** A payment as the provider tells it; the rest is what an approved payment of 1,000 says. */
export interface Snapshot {
  status?: string;
  amount?: number;
  currency?: string;
  captured?: number;
  refunds?: object[];
  disputes?: object[];
  paymentId?: string;
}

export interface Sending {
  eventId?: string;
  secret?: Buffer;
  /** Unix seconds of the signature. */
  at?: number;
  headers?: Record<string, string>;
  /** Instead of the snapshot. */
  body?: string;
  /** Public id of another connection than the shop's first. */
  connection?: string;
  url?: string;
}

export function uuid(kind: IdKind, id: string): string {
  return parsePublicId(kind, 'staging', id)!;
}

export function bodyOf(reference: string, snapshot: Snapshot = {}, eventId = `evt_${randomUUID()}`): string {
  const { status = 'captured', amount = 1_000, currency = 'eur', refunds = [], disputes = [] } = snapshot;
  const approved = status === 'captured' || status === 'authorized' || status === 'voided';
  const captured = snapshot.captured ?? (status === 'captured' ? amount : 0);
  return JSON.stringify({
    id: eventId,
    type: 'payment.told',
    created_at: new Date().toISOString(),
    payment: {
      object: 'payment', id: snapshot.paymentId ?? `their-${reference}`, reference, status, amount, currency,
      amount_authorized: approved ? amount : 0, amount_captured: captured, amount_refunded: 0,
      decline_code: status === 'declined' ? 'do_not_honor' : null, network_transaction_id: null, redirect_url: null, disputed: disputes.length > 0,
      created_at: new Date().toISOString(), refunds, disputes,
    },
  });
}

/** Signs as the provider documents it, written down here again: `t=<seconds>,v1=<hex>` with a key per connection. */
export function signed(body: string, connection: string, { secret = Buffer.from(shared.simulatorSecret, 'base64'), at = Math.floor(Date.now() / 1_000) }: Sending = {}): string {
  const key = createHmac('sha256', secret).update(`callbacks of ${connection}`).digest();
  return `t=${at},v1=${createHmac('sha256', key).update(`${at}.`).update(body).digest('hex')}`;
}

/** Posts a callback to the shop's first connection. */
export async function tell(shop: Shop, reference: string, snapshot: Snapshot = {}, sending: Sending = {}): Promise<Pick<Answer, 'status' | 'body'> & { headers: Headers }> {
  const connection = sending.connection ?? shop.a;
  const body = sending.body ?? bodyOf(reference, snapshot, sending.eventId);
  const response = await fetch(`${sending.url ?? shop.admin.url}/callbacks/${connection}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'simulator-signature': signed(body, uuid('processor', connection), sending), ...sending.headers },
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

/** The stored callbacks of a connection, or of one payment there. */
export async function storedAt(connection: string, intentId?: string, databaseUrl = shared.databaseUrlStaging): Promise<ProcessorCallbackRow[]> {
  return reading(databaseUrl, ({ db }) =>
    db
      .select()
      .from(processorCallbacks)
      .where(and(eq(processorCallbacks.processorId, uuid('processor', connection)), intentId ? eq(processorCallbacks.paymentIntentId, uuid('pi', intentId)) : undefined))
      .orderBy(asc(processorCallbacks.id)));
}

async function reading<T>(url: string, read: (database: Database) => Promise<T>): Promise<T> {
  const database = connect(url, { max: 1 });
  try {
    return await read(database);
  } finally {
    await database.close();
  }
}

/** Waits until every callback of the payment is applied. */
export async function applied(shop: Shop, intentId: string, count: number, databaseUrl = shared.databaseUrlStaging): Promise<ProcessorCallbackRow[]> {
  return eventually(async () => {
    const rows = await storedAt(shop.a, intentId, databaseUrl);
    return rows.length >= count && rows.every((row) => row.appliedAt !== null) ? rows : null;
  }, { timeoutMs: 90_000 });
}

export interface Unresolved {
  id: string;
  reference: string;
  /** What the caller who waits gets in the end. */
  answer: Promise<Answer>;
}

/** A payment of 1,000 that the provider does not know: its only attempt has no outcome. */
export async function unresolved(shop: Shop, wish: Wish = {}): Promise<Unresolved> {
  const method = wish.method ?? (await cardOf(shop));
  const answer = pay(shop, { simulate: { [shop.a]: 'error_before_charge' }, ...wish, method });
  const charge = await eventually(async () => {
    const [found] = (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data;
    return found?.outcome_class === 'unknown' ? found : null;
  });
  return { id: charge.payment_intent_id, reference: `${charge.payment_intent_id}-1`, answer };
}

/** The provider's own id of the intent's last charge. */
export async function theirId(shop: Shop, intentId: string): Promise<string> {
  return (await chargesOf(shop, intentId)).at(-1)!.processor_payment_id;
}

/** What a person does at the provider itself. */
export async function atProvider(shop: Shop, path: string, body: object = {}): Promise<Answer['body']> {
  const response = await fetch(`${shop.simulatorUrl}/control/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}
