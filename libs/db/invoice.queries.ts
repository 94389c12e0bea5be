import { and, asc, eq, inArray, isNotNull, isNull, ne, sql, type SQL } from 'drizzle-orm';
import type { BillingReason } from '../domain/invoice/invoice.draft.js';
import { isOwed } from '../domain/invoice/invoice.machine.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import { isBarred, type RouteDecision } from '../domain/route/route.decision.js';
import type { InvoiceFacts, PaymentStanding } from '../domain/subscription/plan.js';
import type { Environment } from '../domain/environment.js';
import { invoiceView, type InvoiceView } from '../views/invoice.view.js';
import { orFail, type Statement } from './batch.js';
import type { Db, Tx } from './client.js';
import { hostedInvoiceUrl, type InvoicePages } from './invoice-page.js';
import { charges, invoiceItems, invoices, paymentIntents, refunds, subscriptions, type InvoiceItemRow, type InvoiceRow } from './schema/index.js';

export async function findInvoice(db: Db | Tx, accountId: string, id: string): Promise<InvoiceRow | undefined> {
  const [row] = await db
    .select()
    .from(invoices)
    .where(and(eq(invoices.id, id), eq(invoices.accountId, accountId)));
  return row;
}

export async function findInvoiceItem(db: Db, accountId: string, id: string): Promise<InvoiceItemRow | undefined> {
  const [row] = await db
    .select()
    .from(invoiceItems)
    .where(and(eq(invoiceItems.id, id), eq(invoiceItems.accountId, accountId), isNull(invoiceItems.deletedAt)));
  return row;
}

/** Published objects of the rows, in their order, with lines and refunds read in two queries; `pages` adds the hosted addresses. */
export async function invoiceViews(db: Db | Tx, rows: InvoiceRow[], environment: Environment, pages?: InvoicePages): Promise<InvoiceView[]> {
  if (rows.length === 0) return [];
  const ids = [...new Set(rows.map((row) => row.id))];
  const intents = [...new Set(rows.flatMap((row) => (row.paymentIntentId ? [row.paymentIntentId] : [])))];
  const lines = await db.select().from(invoiceItems).where(and(inArray(invoiceItems.invoiceId, ids), isNull(invoiceItems.deletedAt))).orderBy(asc(invoiceItems.id));
  const returned =
    intents.length === 0
      ? []
      : await db
          .select({ id: refunds.id, intentId: refunds.paymentIntentId })
          .from(refunds)
          .where(inArray(refunds.paymentIntentId, intents))
          .orderBy(asc(refunds.id));
  return rows.map((row) =>
    invoiceView(
      row,
      {
        lines: lines.filter((line) => line.invoiceId === row.id),
        refundIds: returned.filter(({ intentId }) => intentId === row.paymentIntentId).map(({ id }) => id),
        hostedUrl: pages ? hostedInvoiceUrl(pages, row) : null,
      },
      environment,
    ),
  );
}

/** The last attempt is being cancelled or replaced at its processor. */
export const operating = sql<boolean>`exists (select 1 from charge_operations o where o.charge_id = ${charges.id} and o.status = 'pending')`;

/** Invoices that a subscription finalised, oldest first, with how their payments stand; not those that a person made for it. */
export async function readInvoiceFacts(db: Db | Tx, subscriptionId: string): Promise<InvoiceFacts[]> {
  const rows = await db
    .select({ ...attemptFacts, invoice: invoices, operating })
    .from(invoices)
    .leftJoin(paymentIntents, eq(paymentIntents.id, invoices.paymentIntentId))
    .leftJoin(charges, eq(charges.id, paymentIntents.lastChargeId))
    .where(and(eq(invoices.subscriptionId, subscriptionId), isNotNull(invoices.finalizedAt), ne(invoices.billingReason, 'manual'), worthReading(subscriptionId)))
    .orderBy(asc(invoices.periodStart), asc(invoices.id));
  return rows.map(({ invoice, operating: busy, ...attempt }) => invoiceFactsOf(invoice, attempt, busy));
}

/** Of an invoice for which nobody was asked yet. */
export const noAttempt = { status: null, declineCode: null, decision: null, outcomeClass: null, retryAdvice: null };

/** `busy`: its last attempt is being cancelled or replaced. */
export function invoiceFactsOf(invoice: InvoiceRow, attempt: AttemptFacts & { status: string | null }, busy: boolean): InvoiceFacts {
  return {
    id: invoice.id,
    status: invoice.status,
    periodStart: invoice.periodStart,
    periodEnd: invoice.periodEnd,
    dueDate: invoice.dueDate,
    totalAtom: invoice.totalAtom,
    dueAtom: invoice.dueAtom,
    paidAtom: invoice.paidAtom,
    refundedAtom: invoice.refundedAtom,
    billingReason: invoice.billingReason as BillingReason,
    creditedAtom: invoice.creditedAtom,
    beginsPeriod: invoice.periodKey !== null,
    paidOutOfBand: invoice.paidOutOfBand,
    payment: attempt.status === 'requires_action' && busy ? 'unresolved' : standingOf(attempt.status),
    failure: failureOf(attempt),
    finalizedAt: invoice.finalizedAt,
    reminderSentAt: invoice.reminderSentAt,
  };
}

const attemptFacts = {
  status: paymentIntents.status,
  declineCode: paymentIntents.declineCode,
  decision: paymentIntents.decision,
  outcomeClass: charges.outcomeClass,
  retryAdvice: charges.retryAdvice,
};

export interface AttemptFacts {
  declineCode: string | null;
  decision: Record<string, unknown> | null;
  outcomeClass: string | null;
  retryAdvice: string | null;
}

/** How the last attempt ended. A card that its scheme forbids for good is hard declined, also where no attempt could begin. */
function failureOf({ declineCode, decision, outcomeClass, retryAdvice }: AttemptFacts): OutcomeClass | null {
  const barred = declineCode === 'no_processor_available' && decision !== null && isBarred(decision as unknown as RouteDecision);
  return barred || retryAdvice === 'never' ? 'hard_decline' : (outcomeClass as OutcomeClass | null);
}

/** A subscription of years has many paid invoices: only what is owed, the one being charged and the newest matter. */
export function worthReading(subscriptionId: string | SQL) {
  return sql`(${invoices.status} in ('open', 'past_due')
    or ${invoices.id} = (select s.charging_invoice_id from subscriptions s where s.id = ${subscriptionId})
    or ${invoices.id} = (select n.id from invoices n where n.subscription_id = ${subscriptionId} and n.finalized_at is not null and n.period_key is not null
      order by n.period_start desc, n.id desc limit 1))`;
}

export function standingOf(status: string | null): PaymentStanding {
  switch (status) {
    case null:
    case 'requires_confirmation':
      return 'none';
    case 'succeeded':
      return 'succeeded';
    case 'requires_action':
      return 'action';
    case 'requires_payment_method':
    case 'canceled':
      return 'at_rest';
    default:
      return 'unresolved';
  }
}

export function owedFirst(facts: InvoiceFacts[]): InvoiceFacts[] {
  return facts.filter(({ status }) => isOwed(status));
}

/**
 * Whether an attempt for the invoice may still begin. Not where its subscription was cancelled or paused while this payment
 * was under way; a payment that a person asks for afterwards may. Holds the subscription's row until the transaction ends, so
 * that a cancel commits before this or after it.
 */
export async function mayCollect(tx: Tx, { invoiceId, subscriptionId }: { invoiceId: string; subscriptionId: string }): Promise<boolean> {
  const [row] = await tx
    .select({ status: subscriptions.status, resuming: subscriptions.resuming, charging: subscriptions.chargingInvoiceId })
    .from(subscriptions)
    .where(eq(subscriptions.id, subscriptionId))
    .for('share');
  const stopped = row?.status === 'cancelled' || (row?.status === 'paused' && !row.resuming);
  return !stopped || row.charging !== invoiceId;
}

/** The same as a condition that ends its batch. */
export function collectable({ invoiceId, subscriptionId }: { invoiceId: string; subscriptionId: string }): Statement {
  const text = `select id from subscriptions where id = $1
    and not ((status = 'cancelled' or (status = 'paused' and not resuming)) and charging_invoice_id is not distinct from $2::uuid) for share`;
  return orFail({ text, values: [subscriptionId, invoiceId] }, []);
}
