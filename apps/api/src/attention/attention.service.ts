import { Injectable } from '@nestjs/common';
import { eq, isNotNull, isNull } from 'drizzle-orm';
import { findAttention } from '../../../../libs/db/attention.queries.js';
import { resolveAttention } from '../../../../libs/db/attention-resolution.writes.js';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { attentionItems, type AttentionItemRow, type PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import { chargesOfIntent } from '../../../../libs/db/payment.queries.js';
import { attentionRules } from '../../../../libs/domain/attention/attention.actions.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { resolvePaymentAttention, type PersonsWish } from '../../../../libs/payments/resolve-attention.js';
import { attentionView } from '../../../../libs/views/attention.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage } from '../kernel/lists.js';
import { Payments } from '../kernel/payments.js';
import { SettlementsService } from '../payment-intents/settlements.service.js';
import type { AttentionQuery, ResolveAttentionBody } from './attention.dto.js';

@Injectable()
export class AttentionService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
    private readonly settlements: SettlementsService,
  ) {}

  browse(caller: Caller, query: AttentionQuery) {
    const states = { open: [isNull(attentionItems.resolvedAt)], resolved: [isNotNull(attentionItems.resolvedAt)] };
    const where = [eq(attentionItems.accountId, caller.accountId), ...(query.status ? states[query.status] : []), ...equals(attentionItems.type, query.type)];
    return cursorPage(this.infrastructure.db, attentionItems, query, { where, view: (row) => this.view(row) });
  }

  async get(caller: Caller, id: string) {
    const row = await findAttention(this.infrastructure.db, caller.accountId, pathId('att', id, caller));
    if (!row) throw notFound('attention item');
    return this.view(row);
  }

  async resolve(caller: Caller, id: string, body: ResolveAttentionBody) {
    const { db } = this.infrastructure;
    const item = await findAttention(db, caller.accountId, pathId('att', id, caller));
    if (!item) throw notFound('attention item');
    const wish = wishOf(item, body);
    if (wish) return this.act(caller, item, wish);
    if (!item.resolvedAt) await this.requireNote(caller, item);
    const resolution = body.resolution ?? null;
    return this.view(await transact(db, caller.change(), (tx) => resolveAttention(tx, caller.change(), { id: item.id, resolution })));
  }

  private async act(caller: Caller, item: AttentionItemRow, wish: PersonsWish) {
    const change = caller.change();
    const intent = await resolvePaymentAttention(this.payments.deps, change, { item, wish });
    if (intent) await this.goOn(intent, change);
    return this.view((await findAttention(this.infrastructure.db, caller.accountId, item.id))!);
  }

  /** What the person said is committed: where the payment cannot be moved now, the sweeper starts it. */
  private async goOn(intent: PaymentIntentRow, change: Change): Promise<void> {
    try {
      await this.settlements.settle(intent, change);
    } catch (err) {
      this.infrastructure.log.warn({ err, payment_intent_id: intent.id }, 'payment workflow starts later');
    }
  }

  /** What lasts is not closed by a note. */
  private async requireNote(caller: Caller, item: AttentionItemRow): Promise<void> {
    const rule = attentionRules[item.type];
    if (!rule?.needsAction) return;
    if (rule.endsBy) throw new DomainError('conflict', rule.endsBy.replaceAll('{object}', this.view(item).object_id));
    const charges = item.kind === 'pi' ? await chargesOfIntent(this.infrastructure.db, item.objectId) : [];
    if (charges.some((charge) => charge.status === 'pending')) throw invalidField('action', `Name one of ${rule.actions.join(', ')}: the payment has no outcome yet`, 'missing');
  }

  private view(row: AttentionItemRow) {
    return attentionView(row, this.infrastructure.environment, new Date());
  }
}

/** @throws DomainError 422 for an action that is not possible, or that lacks what it needs. */
function wishOf(item: AttentionItemRow, { action, processor_payment_id: processorPaymentId, confirm, resolution }: ResolveAttentionBody): PersonsWish | null {
  if (!action) {
    if (processorPaymentId) throw invalidField('processor_payment_id', 'Only with the action mark_succeeded');
    if (confirm !== undefined) throw invalidField('confirm', 'Only with the action mark_failed');
    return null;
  }
  const possible = attentionRules[item.type]?.actions ?? [];
  if (!possible.includes(action)) {
    throw invalidField('action', possible.length > 0 ? `Possible here: ${possible.join(', ')}` : 'This item takes a resolution only');
  }
  if (action === 'mark_succeeded' && !processorPaymentId) throw invalidField('processor_payment_id', 'Name the payment at the processor', 'missing');
  if (action !== 'mark_succeeded' && processorPaymentId) throw invalidField('processor_payment_id', 'Only with the action mark_succeeded');
  if (action === 'mark_failed' && confirm !== true) {
    throw invalidField('confirm', 'If money was taken after all, the customer can now be charged a second time: send true to take that risk', 'missing');
  }
  return { action, processorPaymentId: processorPaymentId ?? null, note: resolution ?? null };
}
