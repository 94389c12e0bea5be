import { Injectable } from '@nestjs/common';
import { and, eq } from 'drizzle-orm';
import { findCommand } from '../../../../libs/db/command.writes.js';
import { siblingId } from '../../../../libs/db/mint.js';
import { findSubscription } from '../../../../libs/db/subscription.queries.js';
import { subscriptionItems, type SubscriptionItemRow, type SubscriptionRow } from '../../../../libs/db/schema/index.js';
import type { ItemInput, ProrationBehavior } from '../../../../libs/domain/subscription/item-changes.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import type { CreateSubscriptionItemBody, UpdateSubscriptionItemBody } from './subscription-items.dto.js';

interface Wish {
  item: ItemInput;
  proration: ProrationBehavior;
  isPreview: boolean;
}

/** One item at a time; several at once change by `PUT /subscriptions/{id}`. Written by the subscription's workflow. */
@Injectable()
export class SubscriptionItemsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly subscriptions: SubscriptionsService,
  ) {}

  async create(caller: Caller, body: CreateSubscriptionItemBody) {
    const row = await findSubscription(this.infrastructure.db, caller.accountId, bodyId('subscription_id', 'sub', body.subscription_id, caller));
    if (!row) throw unknownReference('subscription_id', 'sub');
    const item: ItemInput = {
      path: [],
      action: 'add',
      id: caller.objectId(),
      priceId: bodyId('price_id', 'price', body.price_id, caller),
      quantity: body.quantity,
      description: body.description ?? null,
      customFields: body.custom_fields ?? null,
      addAtPeriodEnd: body.add_at_period_end,
    };
    return this.change(caller, row, { item, proration: body.proration_behavior, isPreview: body.is_preview });
  }

  async update(caller: Caller, id: string, body: UpdateSubscriptionItemBody) {
    const { row, item: known } = await this.find(caller, id);
    const item: ItemInput = {
      path: [],
      action: 'update',
      id: known.id,
      replacementId: siblingId(caller.objectId(), 'item'),
      priceId: body.price_id ? bodyId('price_id', 'price', body.price_id, caller) : undefined,
      quantity: body.quantity ?? undefined,
      description: body.description,
      customFields: body.custom_fields,
      dropAtEnd: body.drop_at_end ?? undefined,
    };
    return this.change(caller, row, { item, proration: body.proration_behavior, isPreview: body.is_preview });
  }

  async remove(caller: Caller, id: string, body: { drop_at_end: boolean; proration_behavior: ProrationBehavior; is_preview: boolean }) {
    const { row, item: known } = await this.find(caller, id);
    const item: ItemInput = { path: [], action: 'remove', id: known.id, dropAtEnd: body.drop_at_end };
    const changed = await this.subscriptions.changeItems(caller, row, { items: [item], proration: body.proration_behavior, isPreview: body.is_preview });
    const left = changed.items.find((each) => each.id === id);
    const removedAt = body.is_preview ? changed.at : ((await this.read(caller, known.id))?.removedAt?.toISOString() ?? null);
    return {
      subscription_item_id: publicId('si', this.infrastructure.environment, known.id),
      deleted_at: left ? null : removedAt,
      drop_at_end: left?.drop_at_end ?? false,
      message: left ? 'SubscriptionItem ends with the current period.' : 'SubscriptionItem deleted successfully.',
      ...changed.money,
    };
  }

  private async change(caller: Caller, row: SubscriptionRow, { item, proration, isPreview }: Wish) {
    const { items, money } = await this.subscriptions.changeItems(caller, row, { items: [item], proration, isPreview });
    const shown = publicId('si', this.infrastructure.environment, item.id);
    const view = items.find(({ id }) => id === shown);
    if (!view) throw notFound('subscription item');
    return { ...view, ...money };
  }

  private async find(caller: Caller, id: string): Promise<{ row: SubscriptionRow; item: SubscriptionItemRow }> {
    const item = await this.read(caller, pathId('si', id, caller));
    const row = item && (await findSubscription(this.infrastructure.db, caller.accountId, item.subscriptionId));
    const isRetry = item?.removedAt && row && (await findCommand(this.infrastructure.db, caller.commandId, { objectId: row.id })) !== undefined;
    if (!row || (item.removedAt && !isRetry)) throw notFound('subscription item');
    return { row, item };
  }

  private async read(caller: Caller, id: string): Promise<SubscriptionItemRow | undefined> {
    const [item] = await this.infrastructure.db
      .select()
      .from(subscriptionItems)
      .where(and(eq(subscriptionItems.id, id), eq(subscriptionItems.accountId, caller.accountId)));
    return item;
  }
}
