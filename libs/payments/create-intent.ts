import { isStale } from '../db/batch.js';
import type { Db, Tx } from '../db/client.js';
import { appendEvents, renderEvents, type EventDraft } from '../db/event.writes.js';
import { writeNewIntent } from '../db/payment.batch.js';
import { intentByReference, intentOf, methodUse, type MethodUse } from '../db/payment.queries.js';
import { insertIntent } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import type { CaptureMethod, Execution, PaymentDriver } from '../domain/payment/payment-status.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import { publicId } from '../views/ids.js';
import { paymentIntentView } from '../views/payment-intent.view.js';
import { withSubscribers } from './known-subscribers.js';
import { simulateOf } from './simulate-trigger.js';

/** Ids are UUIDs of the change's account, already checked by the caller. */
export interface NewIntent {
  /** Minted by the caller (`newId()`), so that a retry of the same command makes the same intent. */
  id: string;
  customerId: string | null;
  amountAtom: number;
  currency: string;
  paymentMethodId: string | null;
  /** Without a route the account's default decides, else the only live one. */
  paymentRouteId?: string | null;
  captureMethod?: CaptureMethod;
  /** The customer is absent. */
  offSession?: boolean;
  /** Ask for the money at once: the intent is `processing` and `advancePayment` may be called. */
  confirm: boolean;
  execution?: Execution;
  /** Who will call `advancePayment`. Invoices of a subscription: `workflow`. */
  driver?: PaymentDriver;
  returnUrl?: string | null;
  description?: string | null;
  /** `custom_fields.simulate` chooses the simulator's outcome. */
  customFields?: Record<string, unknown> | null;
  metadata?: Record<string, unknown> | null;
  /** One uncancelled intent per invoice; a second one is 409 `conflict`. */
  invoiceId?: string | null;
  /** Start of the period that the invoice bills. */
  billedFrom?: Date | null;
  subscriptionId?: string | null;
  subscriptionPayment?: 'first' | 'later' | null;
  paymentLinkId?: string | null;
  /**
   * Business identity that reaches the processor as reference and idempotency key (with the attempt number), at most 80
   * characters. Subscriptions: `<subscription public id>:<period start, epoch seconds>`. Default: the intent's public id.
   */
  reference?: string | null;
  /** The workflow's or test clock's time. Default: now. */
  now?: Date;
}

/** Inserts the intent with its event; the same id or reference again answers with the row that is there. */
export async function createIntent(tx: Tx, change: Change, input: NewIntent): Promise<PaymentIntentRow> {
  const wanted = intentRow(change, input);
  const row = await insertIntent(tx, wanted);
  if (!row) return existing(tx, change, wanted);
  await appendEvents(tx, change, [intentCreated(change, row)]);
  return row;
}

/**
 * Inserts an intent that no invoice asks for, with its event, in one round trip. Null, and nothing was written, where it is there
 * already, its key is taken or an endpoint was added meanwhile: `createIntent` finds out.
 */
export async function createIntentAtOnce(db: Db, change: Change, input: NewIntent & { invoiceId?: null }): Promise<PaymentIntentRow | null> {
  const intent = intentRow(change, input);
  try {
    await withSubscribers(db, change.accountId, (subscribers) =>
      writeNewIntent(db, change, { subscribers, intent, events: renderEvents(change, [intentCreated(change, intent)], { sequences: new Map(), subscribers }) }));
    return intent;
  } catch (error) {
    if (isStale(error)) return null;
    throw error;
  }
}

/** @throws DomainError 422 when it is to be confirmed without a method. */
export function intentRow(change: Change, input: NewIntent): PaymentIntentRow {
  if (input.confirm && !input.paymentMethodId) throw new DomainError('payment_method_required');
  const at = input.now ?? new Date();
  return {
    id: input.id,
    accountId: change.accountId,
    customerId: input.customerId,
    amountAtom: input.amountAtom,
    amountCapturableAtom: 0,
    amountReceivedAtom: 0,
    amountRefundedAtom: 0,
    currency: input.currency,
    status: input.confirm ? 'processing' : input.paymentMethodId ? 'requires_confirmation' : 'requires_payment_method',
    captureMethod: input.captureMethod ?? 'automatic',
    initiator: input.offSession ? 'merchant' : 'customer',
    subscriptionPayment: input.subscriptionPayment ?? null,
    paymentMethodId: input.paymentMethodId,
    paymentRouteId: input.paymentRouteId ?? null,
    invoiceId: input.invoiceId ?? null,
    subscriptionId: input.subscriptionId ?? null,
    paymentLinkId: input.paymentLinkId ?? null,
    reference: input.reference ?? publicId('pi', change.environment, input.id),
    simulate: simulateOf(input.customFields, input.billedFrom),
    description: input.description ?? null,
    customFields: input.customFields ?? null,
    metadata: input.metadata ?? null,
    returnUrl: input.returnUrl ?? null,
    redirectUrl: null,
    declineCode: null,
    declineReason: null,
    lastChargeId: null,
    attempts: 0,
    confirmation: input.confirm ? 1 : 0,
    decision: null,
    execution: input.execution ?? 'workflow',
    driver: input.driver ?? 'api',
    leaseOwner: null,
    leaseToken: 0,
    leaseUntil: null,
    wakeSeq: 0,
    nextActionAt: null,
    settled: !input.confirm,
    lastRefundAt: null,
    canceledAt: null,
    stoppedAt: null,
    stoppedBy: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

export function intentCreated(change: Change, row: PaymentIntentRow): EventDraft {
  const parts = { chargeIds: [], refundIds: [], processorKind: null, processorPaymentId: null };
  const data = paymentIntentView(row, parts, change.environment);
  return { type: 'payment_intent.created', kind: 'pi', objectId: row.id, customerId: row.customerId, data, previous: null };
}

async function existing(tx: Tx, change: Change, wanted: { id: string; reference: string }): Promise<PaymentIntentRow> {
  const row = (await intentOf(tx, change.accountId, wanted.id)) ?? (await intentByReference(tx, change.accountId, wanted.reference));
  if (row) return row;
  throw new DomainError('conflict', 'The invoice already has a payment intent.');
}

/** A method that this customer's payment may use. @throws DomainError 422 naming the field. */
export async function requireUsableMethod(
  tx: Tx,
  accountId: string,
  wanted: { paymentMethodId: string; customerId: string | null },
  field = 'payment_method_id',
): Promise<void> {
  assertUsable(await methodUse(tx, accountId, wanted.paymentMethodId), wanted, field);
}

/** @throws DomainError 422 naming the field. */
export function assertUsable(use: MethodUse | null, wanted: { customerId: string | null }, field = 'payment_method_id'): void {
  if (!use) throw invalidField(field, 'No such payment method', 'unknown_reference');
  if (use.status === 'detached') throw invalidField(field, 'the payment method is detached');
  if (use.customerId !== null && use.customerId !== wanted.customerId) throw invalidField(field, 'the payment method belongs to another customer');
}
