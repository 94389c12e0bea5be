import { sql, type SQL } from 'drizzle-orm';
import type { Execution } from '../domain/payment/payment-status.js';
import { builtOnce } from './batch.js';
import type { Db } from './client.js';
import { contextColumns, contextOf, referenceKeys, type ContextRow, type RoutingContext } from './payment-context.queries.js';
import type { MethodUse } from './payment.queries.js';
import { readTogether } from './together.js';

/** The execution that stands on the route which decides, else the account's. `routeId`: named by the payment. */
function executionSql(routeId: string | null): SQL {
  return sql`coalesce((select case when count(*) = 1 then max(r.execution) end from payment_routes r
    where r.account_id = a.id and r.live_version is not null and r.deleted_at is null
      and (coalesce(${routeId}::uuid, a.default_payment_route_id) is null or r.id = coalesce(${routeId}::uuid, a.default_payment_route_id))), a.execution)`;
}

/** Who runs a payment's first step where the request does not say. */
export async function executionOf(db: Db, accountId: string, routeId: string | null): Promise<Execution> {
  const { rows } = await db.execute<{ execution: Execution }>(sql`select ${executionSql(routeId)} as execution from accounts a where a.id = ${accountId}`);
  return rows[0]?.execution ?? 'workflow';
}

export interface References {
  customerId: string;
  paymentMethodId: string | null;
  paymentRouteId: string | null;
}

export interface KnownReferences {
  customer: boolean;
  route: boolean;
  method: MethodUse | null;
  /** Who runs its first step by default. */
  execution: Execution;
}

function referencesSql({ accountId, customerId, paymentMethodId, paymentRouteId }: References & { accountId: string }): SQL {
  return sql`
    select ${executionSql(paymentRouteId)} as execution,
      exists (select 1 from customers c where c.id = ${customerId} and c.account_id = a.id and c.deleted_at is null) as customer,
      exists (select 1 from payment_routes r where r.id = ${paymentRouteId}::uuid and r.account_id = a.id and r.deleted_at is null) as route,
      (select json_build_object('status', m.status, 'customerId', m.customer_id) from payment_methods m
        where m.id = ${paymentMethodId}::uuid and m.account_id = a.id and m.shown_at is not null) as method
    from accounts a where a.id = ${accountId}`;
}

const references = builtOnce(referenceKeys, referencesSql);
const nothingKnown: KnownReferences = { customer: false, route: false, method: null, execution: 'workflow' };

/** What a new payment names: whether it is there, how the method may be used, and who runs its first step by default. */
export async function referencesOf(db: Db, accountId: string, named: References): Promise<KnownReferences> {
  const [known] = await readTogether(db, [references(db, { accountId, ...named })]);
  return (known![0] as unknown as KnownReferences | undefined) ?? nothingKnown;
}

const ofWish = (column: string) => sql.raw(`q.${column}`) as unknown as string;
const none = sql.raw('null') as unknown as null;

const wishes = builtOnce([...referenceKeys, 'now'], (wish: References & { accountId: string; now: string }) => {
  const named = {
    accountId: ofWish('account_id'),
    customerId: ofWish('customer_id'),
    paymentMethodId: ofWish('payment_method_id'),
    paymentRouteId: ofWish('payment_route_id'),
  };
  return sql`
    select q.at::int as at, r.execution, r.customer, r.route, r.method as usable,
      ${contextColumns({ ...named, invoiceId: none, paymentLinkId: none, now: ofWish('now') })}
    from unnest(${wish.accountId}::uuid[], ${wish.customerId}::uuid[], ${wish.paymentMethodId}::uuid[], ${wish.paymentRouteId}::uuid[], ${wish.now}::timestamptz[])
      with ordinality as q(account_id, customer_id, payment_method_id, payment_route_id, now, at)
    cross join lateral (${referencesSql(named)}) r`;
});

interface Wished {
  known: KnownReferences;
  /** Null: there is no such account. */
  context: RoutingContext | null;
}

/** The same with what routing asks about the payment, in one statement for all that come at the same time. */
export async function referencesAndContext(db: Db, accountId: string, named: References, now: Date): Promise<Wished> {
  const { text, values } = wishes(db, { accountId, ...named, now: now.toISOString() });
  const [rows] = await readTogether(db, [{ text, values: values.map((value) => [value]), listed: true }]);
  const row = rows![0];
  if (!row) return { known: nothingKnown, context: null };
  const { execution, customer, route, usable } = row as unknown as Omit<KnownReferences, 'method'> & { usable: KnownReferences['method'] };
  return { known: { execution, customer, route, method: usable }, context: contextOf(row as ContextRow) };
}
