import { Injectable } from '@nestjs/common';
import { assertAttached, checkRoute, readRequest, resolveSubscription } from '../../../../libs/db/subscription-prices.queries.js';
import { factsOfNew } from '../../../../libs/db/subscription.record.js';
import { findSubscription, type pricedItemView } from '../../../../libs/db/subscription.queries.js';
import type { KeptMethod } from '../../../../libs/db/kept-method.writes.js';
import { findCommand } from '../../../../libs/db/command.writes.js';
import { assertClockStands, clockworkOf } from '../../../../libs/db/test-clock.queries.js';
import type { SubscriptionRow } from '../../../../libs/db/schema/index.js';
import { planCreate } from '../../../../libs/domain/subscription/create-subscription.js';
import type { ItemInput, ProrationBehavior } from '../../../../libs/domain/subscription/item-changes.js';
import type { CommandOutcome, NewSubscriptionJson, SubscriptionCommand } from '../../../../libs/domain/subscription/subscription.command.js';
import { mayMove, refusedMove, type Move } from '../../../../libs/domain/subscription/subscription.machine.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { commandSubscription, paymentWaitMs, startSubscription, wakeSubscriptionWorkflow, type SubscriptionStart } from '../../../../libs/temporal/subscription.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { SubscriptionView } from '../../../../libs/views/subscription.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { SubscriptionAnswersService } from './subscription-answers.service.js';
import { SubscriptionPreviewsService } from './subscription-previews.service.js';
import { readCancel, readCreate, readUpdate } from './subscription-requests.js';
import type {
  CancelSubscriptionBody, CreateSubscriptionBody, PauseSubscriptionBody, ResumeSubscriptionBody, UpdateSubscriptionBody,
} from './subscriptions.dto.js';

interface ItemsWish {
  items: ItemInput[];
  proration: ProrationBehavior;
  isPreview: boolean;
}

/** Changes go to the subscription's workflow; previews show the same plan and write nothing. */
@Injectable()
export class SubscriptionsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly previews: SubscriptionPreviewsService,
    private readonly answers: SubscriptionAnswersService,
  ) {}

  async create(caller: Caller, body: CreateSubscriptionBody) {
    const request = readCreate(caller, body);
    if (body.is_preview) return this.previews.create(caller, request);
    await this.check(caller, request);
    const start = this.startOf(caller, { id: request.id, customerId: request.customerId, status: 'trialing', name: 'new' });
    const outcome = await startSubscription(this.infrastructure.temporal.client, start, {
      change: caller.change(),
      subscription: request,
      waitMs: paymentWaitMs,
    });
    const row = await findSubscription(this.infrastructure.db, caller.accountId, request.id);
    if (!row) throw new DomainError('service_unavailable', undefined, { retryAfterSeconds: 2 });
    if (!outcome?.settled) caller.leaveOpen();
    return this.answers.created(caller, request.id);
  }

  get(caller: Caller, id: string): Promise<SubscriptionView> {
    return this.answers.show(caller, pathId('sub', id, caller));
  }

  async pause(caller: Caller, id: string, body: PauseSubscriptionBody) {
    const row = await this.find(caller, id);
    const command: SubscriptionCommand = {
      type: 'pause',
      cycles: body.number_of_billing_cycles_to_skip,
      resumesAt: body.resumption_date === undefined ? undefined : (body.resumption_date?.toISOString() ?? null),
    };
    if (body.is_preview) return (await this.previews.command(caller, row.id, command)).subscription;
    await this.command(caller, row, command);
    return this.answers.show(caller, row.id);
  }

  async resume(caller: Caller, id: string, body: ResumeSubscriptionBody) {
    const row = await this.find(caller, id);
    const command: SubscriptionCommand = { type: 'resume', proration: body.proration_behavior === 'none' ? 'none' : 'create_prorations' };
    if (body.is_preview) {
      const { subscription, invoice } = await this.previews.command(caller, row.id, command);
      return invoice ? { subscription, invoice } : { subscription };
    }
    const outcome = await this.command(caller, row, command);
    const { subscription, invoice } = await this.answers.after(caller, row.id, outcome);
    return invoice ? { subscription, invoice } : { subscription };
  }

  async cancel(caller: Caller, id: string, body: CancelSubscriptionBody) {
    const row = await this.find(caller, id);
    const command = readCancel(body);
    if (body.is_preview) {
      const { subscription, plan } = await this.previews.command(caller, row.id, command);
      return { subscription, balance_credit_amount_atom: (plan?.creditAtom ?? 0) + (plan?.invoice?.creditedAtom ?? 0), refund_amount_atom: plan?.refunds.reduce((sum, { amountAtom }) => sum + amountAtom, 0) ?? 0 };
    }
    const outcome = await this.command(caller, row, command);
    return {
      subscription: await this.answers.show(caller, row.id),
      balance_credit_amount_atom: outcome?.creditAtom ?? 0,
      refund_amount_atom: outcome?.refundAtom ?? 0,
    };
  }

  async update(caller: Caller, id: string, body: UpdateSubscriptionBody) {
    const row = await this.find(caller, id);
    const command = readUpdate(caller, row, body);
    const { db } = this.infrastructure;
    if (command.paymentMethodId) await assertAttached(db, caller.accountId, { paymentMethodId: command.paymentMethodId, customerId: row.customerId });
    if (command.paymentRouteId) await checkRoute(db, caller.accountId, command.paymentRouteId);
    if (body.is_preview) {
      const { subscription, invoice, pending, renewal } = await this.previews.command(caller, row.id, command);
      return {
        subscriptions: [subscription],
        invoices: invoice ? [invoice] : [],
        pending_invoice_items: pending,
        renewal_invoices: body.preview_renewal_invoices && renewal ? [renewal] : [],
      };
    }
    const outcome = await this.command(caller, row, command);
    const { subscription, invoice, pending, renewal } = await this.answers.after(caller, row.id, outcome, { renewal: body.preview_renewal_invoices });
    return {
      subscriptions: [subscription],
      invoices: invoice ? [invoice] : [],
      pending_invoice_items: pending,
      renewal_invoices: renewal ? [renewal] : [],
    };
  }

  /** The items as they are then, or would be, when, and what is billed for the change. */
  async changeItems(caller: Caller, row: SubscriptionRow, { items, proration, isPreview }: ItemsWish) {
    const command: SubscriptionCommand = { type: 'changeItems', items, proration };
    if (isPreview) {
      const { subscription, invoice, pending } = await this.previews.command(caller, row.id, command);
      return { items: itemsOf(subscription), at: subscription.updated_at, money: { invoice, pending_invoice_items: pending } };
    }
    const outcome = await this.command(caller, row, command);
    const { subscription, invoice, pending } = await this.answers.after(caller, row.id, outcome);
    return { items: itemsOf(subscription), at: subscription.updated_at, money: { invoice, pending_invoice_items: pending } };
  }

  async endTrial(caller: Caller, id: string) {
    const row = await this.find(caller, id);
    await this.command(caller, row, { type: 'endTrial' });
    return this.answers.show(caller, row.id);
  }

  /** Lets the workflow look at its rows again, and answers what they say now. */
  async refresh(caller: Caller, id: string) {
    const row = await this.find(caller, id);
    await this.wake(caller, row);
    return this.answers.show(caller, row.id);
  }

  /** A cancelled one is awake only while a payment is awaited, and then its payment tells it. */
  async wake(caller: Pick<Caller, 'accountId'>, row: SubscriptionRow): Promise<void> {
    if (row.status === 'cancelled' && row.chargingInvoiceId === null) return;
    await wakeSubscriptionWorkflow(this.infrastructure.temporal.client, this.startOf(caller, row));
  }

  /** Its customer wants it to be paid with this method from now on; what is in dunning is tried again with it. False: no answer yet. */
  async keepMethod({ subscription, change, command }: KeptMethod): Promise<boolean> {
    const outcome = await commandSubscription(this.infrastructure.temporal.client, this.startOf(change, subscription), { change, command, waitMs: 0 });
    return outcome !== null;
  }

  async find(caller: Caller, id: string): Promise<SubscriptionRow> {
    const row = await findSubscription(this.infrastructure.db, caller.accountId, pathId('sub', id, caller));
    if (!row) throw notFound('subscription');
    return row;
  }

  /** What can be refused without a trace is refused before the workflow starts. */
  private async check(caller: Caller, request: NewSubscriptionJson): Promise<void> {
    const { db } = this.infrastructure;
    const resolved = await resolveSubscription(db, caller.accountId, readRequest(request));
    await assertClockStands(db, resolved.customer.testClockId);
    planCreate(resolved.input, await factsOfNew(db, resolved, await clockworkOf(db, resolved.customer.testClockId, { now: new Date(), jitterSeconds: 0 })));
  }

  private async command(caller: Caller, row: SubscriptionRow, command: SubscriptionCommand): Promise<CommandOutcome | null> {
    const known = await findCommand<CommandOutcome>(this.infrastructure.db, caller.commandId, { objectId: row.id });
    if (known !== undefined) return known;
    await assertClockStands(this.infrastructure.db, row.testClockId);
    if (row.status === 'cancelled') throw refusedMove(row, moveOf(command));
    if (command.type === 'resume' && !mayMove(row, 'resume')) throw refusedMove(row, 'resume');
    const args = { change: caller.change(), command, waitMs: paymentWaitMs };
    const outcome = await commandSubscription(this.infrastructure.temporal.client, this.startOf(caller, row), args);
    const done = outcome ?? (await findCommand<CommandOutcome>(this.infrastructure.db, caller.commandId, { objectId: row.id }));
    if (!done) throw new DomainError('service_unavailable', undefined, { retryAfterSeconds: 2 });
    if (!outcome?.settled) caller.leaveOpen();
    return done;
  }

  private startOf(caller: Pick<Caller, 'accountId'>, row: Pick<SubscriptionRow, 'id' | 'customerId' | 'status' | 'name'>): SubscriptionStart {
    const { environment } = this.infrastructure;
    return {
      subscriptionId: row.id,
      accountId: caller.accountId,
      subscription: publicId('sub', environment, row.id),
      customer: publicId('cus', environment, row.customerId),
      account: publicId('acct', environment, caller.accountId),
      status: row.status,
      summary: `Subscription ${row.name === 'new' ? publicId('sub', environment, row.id) : row.name}`.slice(0, 200),
    };
  }
}

function itemsOf({ subscription_items: items }: SubscriptionView) {
  return items as ReturnType<typeof pricedItemView>[];
}

function moveOf(command: SubscriptionCommand): Move {
  if (command.type === 'changeItems') return 'change_items';
  return command.type === 'endTrial' ? 'end_trial' : command.type;
}
