import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { noDeclines, type DeclineCount } from '../domain/payment/scheme-limit.js';
import { builtOnce } from './batch.js';
import { standingStops, type StandingStop, type StopTarget } from './charge-stop.queries.js';
import type { Db, Tx } from './client.js';
import { subscribersOf, type EventFooting } from './event.writes.js';
import {
  attemptEvidence,
  chargeOperations,
  charges,
  disputes,
  paymentIntents,
  paymentProcessors,
  paymentRouteVersions,
  processorCallbacks,
  refunds,
  type AttemptEvidenceRow,
  type ChargeOperationRow,
  type ChargeRow,
  type DisputeRow,
  type PaymentIntentRow,
  type PaymentProcessorRow,
  type RefundRow,
} from './schema/index.js';
import { rowOf } from './statement.js';
import { readTogether } from './together.js';

/** All connections of the account, deleted ones too, in the order of their ids. */
export async function accountProcessors(db: Db, accountId: string): Promise<PaymentProcessorRow[]> {
  return db.select().from(paymentProcessors).where(eq(paymentProcessors.accountId, accountId)).orderBy(asc(paymentProcessors.id));
}

export interface PaymentHistory {
  /** Oldest first. */
  charges: ChargeRow[];
  operations: ChargeOperationRow[];
  refunds: RefundRow[];
  /** Not applied yet. */
  evidence: AttemptEvidenceRow[];
  /** Not applied yet, oldest first. */
  callbacks: WaitingCallback[];
  /** Read only where a callback waits. */
  disputes: DisputeRow[];
}

export interface WaitingCallback {
  id: string;
  chargeId: string;
  /** `ToldPayment`. */
  payment: Record<string, unknown>;
}

export async function paymentHistory(db: Db | Tx, intentId: string): Promise<PaymentHistory> {
  const [chargeRows, operations, refundRows, evidence, callbacks] = await Promise.all([
    db.select().from(charges).where(eq(charges.paymentIntentId, intentId)).orderBy(asc(charges.attemptNumber)),
    db.select().from(chargeOperations).where(eq(chargeOperations.paymentIntentId, intentId)).orderBy(asc(chargeOperations.id)),
    db.select().from(refunds).where(eq(refunds.paymentIntentId, intentId)).orderBy(asc(refunds.id)),
    db
      .select()
      .from(attemptEvidence)
      .where(and(eq(attemptEvidence.paymentIntentId, intentId), isNull(attemptEvidence.appliedAt)))
      .orderBy(asc(attemptEvidence.id)),
    waitingCallbacks(db, intentId),
  ]);
  const disputeRows = callbacks.length > 0 ? await db.select().from(disputes).where(eq(disputes.paymentIntentId, intentId)).orderBy(asc(disputes.id)) : [];
  return { charges: chargeRows, operations, refunds: refundRows, evidence, callbacks, disputes: disputeRows };
}

async function waitingCallbacks(db: Db | Tx, intentId: string): Promise<WaitingCallback[]> {
  const rows = await db
    .select({ id: processorCallbacks.id, chargeId: processorCallbacks.chargeId, payment: processorCallbacks.payment })
    .from(processorCallbacks)
    .where(and(eq(processorCallbacks.paymentIntentId, intentId), isNull(processorCallbacks.appliedAt)))
    .orderBy(asc(processorCallbacks.id));
  return rows.flatMap(({ id, chargeId, payment }) => (chargeId && payment ? [{ id, chargeId, payment }] : []));
}

export interface RoutingContext {
  method: {
    status: string;
    customer_id: string | null;
    provider: string;
    card_brand: string | null;
    card_funding: string | null;
    card_country: string | null;
    card_iin: string | null;
    billing_country: string | null;
  } | null;
  mappings: KnownMapping[];
  customerCountry: string | null;
  /** The route that decides; null where none is live, or several are and none is the default. */
  route: { id: string; version: number } | null;
  /** Changes with every change of a connection of the account. */
  processorsStamp: string;
  /** Stops that stand over this payment, at any connection. */
  stops: StandingStop[];
  /** Of the method, over all its mappings. */
  declines: DeclineCount;
}

export interface KnownMapping {
  processor_id: string;
  their_payment_method_id: string;
  network_transaction_id: string | null;
  fingerprint: string | null;
  /** Of every method with this fingerprint at this connection. */
  declines: DeclineCount;
}

export interface ContextRow extends Record<string, unknown> {
  method: RoutingContext['method'];
  mappings: (Omit<KnownMapping, 'declines'> & { declines: DeclineCount | null })[] | null;
  country: string | null;
  routes: { id: string; version: number }[] | null;
  stamp: string | null;
  stops: StandingStop[] | null;
  declines: DeclineCount | null;
}

/** What an issuer said no to. Charges of other clocks may lie ahead, and those of other processes a little. */
function declinesOf(card: SQL, now: string): SQL {
  const at = sql`${now}::timestamptz`;
  return sql`(select json_build_object('day', count(*) filter (where c.created_at > ${at} - interval '24 hours'), 'month', count(*),
        'never', exists (select 1 from charges c where ${card} and c.retry_advice = 'never'))
      from charges c
     where ${card} and c.status = 'failed' and c.created_at > ${at} - interval '30 days' and c.created_at < ${at} + interval '1 hour'
       and c.outcome_class in ('soft_decline', 'insufficient_funds', 'hard_decline', 'authentication_required'))`;
}

const sameFingerprint = sql`c.processor_id = x.processor_id and c.fingerprint = x.fingerprint`;

/** What routing asks about a payment. */
export type Routed = Pick<PaymentIntentRow, 'accountId' | 'customerId' | 'paymentMethodId' | 'paymentRouteId'> & StopTarget;

/** Everything that routing asks the database, in one round trip. `now` is the payment's own clock. */
export async function routingContext(db: Db, intent: Routed, now: Date): Promise<RoutingContext> {
  const [rows] = await readTogether(db, [context(db, { ...intent, now: now.toISOString() })]);
  return contextOf(rows![0] as ContextRow);
}

/** What a payment names. */
export const referenceKeys = ['accountId', 'customerId', 'paymentMethodId', 'paymentRouteId'] as const;
const context = builtOnce([...referenceKeys, 'invoiceId', 'paymentLinkId', 'now'], contextSql);

/** `now`: RFC 3339. */
function contextSql(routed: Routed & { now: string }): SQL {
  return sql`select ${contextColumns(routed)}`;
}

export function contextColumns({ now, ...intent }: Routed & { now: string }): SQL {
  return sql`
      (select json_build_object('status', m.status, 'customer_id', m.customer_id, 'provider', m.provider, 'card_brand', m.card_brand,
                'card_funding', m.card_funding, 'card_country', m.card_country, 'card_iin', m.card_iin,
                'billing_country', m.billing_address ->> 'country')
         from payment_methods m where m.id = ${intent.paymentMethodId} and m.account_id = ${intent.accountId}) as method,
      (select json_agg(json_build_object('processor_id', x.processor_id, 'their_payment_method_id', x.their_payment_method_id,
                'network_transaction_id', x.network_transaction_id, 'fingerprint', x.fingerprint,
                'declines', case when x.fingerprint is not null then ${declinesOf(sameFingerprint, now)} end))
         from payment_method_mappings x where x.payment_method_id = ${intent.paymentMethodId}) as mappings,
      (select coalesce(c.billing_address ->> 'country', c.address ->> 'country') from customers c where c.id = ${intent.customerId}) as country,
      (select json_agg(r) from (
         select r.id, r.live_version as version
           from payment_routes r
           join accounts a on a.id = r.account_id
          where r.account_id = ${intent.accountId} and r.live_version is not null and r.deleted_at is null
            and (coalesce(${intent.paymentRouteId}::uuid, a.default_payment_route_id) is null
                 or r.id = coalesce(${intent.paymentRouteId}::uuid, a.default_payment_route_id))
          limit 2) r) as routes,
      (select string_agg(p.id::text || ':' || p.version, ',' order by p.id) from payment_processors p where p.account_id = ${intent.accountId}) as stamp,
      ${standingStops(intent)} as stops,
      ${declinesOf(sql`c.payment_method_id = ${intent.paymentMethodId}`, now)} as declines`;
}

/** A payment as it stands, whoever holds it, with everything that its first attempt asks. */
export interface UnbegunPayment {
  intent: PaymentIntentRow;
  context: RoutingContext;
  footing: EventFooting;
}

const ofPayment = (column: string) => sql.raw(`pi.${column}`) as unknown as string;
const subscribers = subscribersOf('pi.account_id').join('');

const unbegun = builtOnce(['intentId', 'now'], ({ intentId, now }: { intentId: string; now: string }) => {
  const routed = {
    accountId: ofPayment('account_id'),
    customerId: ofPayment('customer_id'),
    paymentMethodId: ofPayment('payment_method_id'),
    paymentRouteId: ofPayment('payment_route_id'),
    invoiceId: ofPayment('invoice_id'),
    paymentLinkId: ofPayment('payment_link_id'),
  };
  return sql`
    select pi.*, ${contextColumns({ ...routed, now })}, ${sql.raw(subscribers)} as subscribers,
      (select coalesce(max(e.sequence), 0)::int from events e where e.object_id = pi.id) as last_sequence
    from payment_intents pi where pi.id = ${intentId}`;
});

/** In one round trip. Null: there is no such payment. */
export async function unbegunPayment(db: Db, intentId: string, now: Date): Promise<UnbegunPayment | null> {
  const [rows] = await readTogether(db, [unbegun(db, { intentId, now: now.toISOString() })]);
  const row = rows![0];
  if (!row) return null;
  const sequences = new Map([[intentId, row.last_sequence as number]]);
  return { intent: rowOf(paymentIntents, row), context: contextOf(row as ContextRow), footing: { sequences, subscribers: row.subscribers as string } };
}

export function contextOf(row: ContextRow): RoutingContext {
  return {
    method: row.method,
    mappings: (row.mappings ?? []).map((mapping) => ({ ...mapping, declines: mapping.declines ?? noDeclines })),
    customerCountry: row.country,
    route: row.routes?.length === 1 ? row.routes[0]! : null,
    processorsStamp: row.stamp ?? '',
    stops: row.stops ?? [],
    declines: row.declines ?? noDeclines,
  };
}

export async function routeDocument(db: Db, routeId: string, version: number): Promise<unknown> {
  const [row] = await db
    .select({ document: paymentRouteVersions.document })
    .from(paymentRouteVersions)
    .where(and(eq(paymentRouteVersions.routeId, routeId), eq(paymentRouteVersions.number, version)));
  return row?.document ?? null;
}
