import { Injectable } from '@nestjs/common';
import { eq, isNull, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { addOnsOfPrices, findAddOns, findPrice, productsOfPrices } from '../../../../libs/db/price.queries.js';
import { createPrice, deletePrice, updatePrice, type PriceFields } from '../../../../libs/db/price.writes.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import { prices, type PriceRow } from '../../../../libs/db/schema/index.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { priceView, type PriceView } from '../../../../libs/views/price.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import {
  problemsOfTerms, type AmountPath, type CreatePriceBody, type FindByAmountQuery, type ListPricesBody, type PricesQuery, type UpdatePriceBody,
} from './prices.dto.js';

@Injectable()
export class PricesService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreatePriceBody): Promise<PriceView> {
    const fields: PriceFields = {
      trialPeriodDays: 0,
      ...columnsOf(caller, body),
      productId: bodyId('product_id', 'product', body.product_id, caller),
      priceType: body.price_type,
      isActive: body.is_active,
      currency: body.currency ?? 'usd',
      unitAmountAtom: body.unit_amount_atom!,
      billingIntervalCount: body.price_type === 'recurring' ? (body.billing_interval_count ?? 1) : null,
    };
    const creation = { id: caller.objectId(), fields, asDefault: body.is_default ?? false };
    const { price } = await transact(this.infrastructure.db, caller.change(), (tx) => createPrice(tx, caller.change(), creation));
    return this.show(caller, price.id);
  }

  async get(caller: Caller, id: string): Promise<PriceView> {
    return this.show(caller, pathId('price', id, caller));
  }

  async update(caller: Caller, id: string, body: UpdatePriceBody): Promise<PriceView> {
    const priceId = pathId('price', id, caller);
    const { price } = await transact(this.infrastructure.db, caller.change(), (tx) =>
      updatePrice(tx, caller.change(), { id: priceId, patch: (before) => patchOf(caller, before, body) }));
    return this.show(caller, price.id);
  }

  async delete(caller: Caller, id: string) {
    const priceId = pathId('price', id, caller);
    const { archived } = await transact(this.infrastructure.db, caller.change(), (tx) =>
      onceIfKeyed(tx, caller.change(), { objectId: priceId, step: 'delete' }, () => deletePrice(tx, caller.change(), priceId)));
    return { price_id: id, message: archived ? 'Price archived: it is in use.' : 'Price deleted.' };
  }

  async list(caller: Caller, body: ListPricesBody) {
    const product = body.product_id ? bodyId('product_id', 'product', body.product_id, caller) : null;
    return composedList(this.infrastructure.db, prices, body, {
      where: [
        ...this.own(caller),
        ...equals(prices.productId, product),
        ...equals(prices.isActive, body.is_active),
        ...equals(prices.currency, body.currency),
        ...equals(prices.priceType, body.price_type),
      ],
      sorts: { unit_amount_atom: prices.unitAmountAtom },
      views: (db, rows) => this.showAll(db, caller, rows),
    });
  }

  async browse(caller: Caller, query: PricesQuery) {
    const product = query.product_id ? bodyId('product_id', 'product', query.product_id, caller) : null;
    const where = [...this.own(caller), ...equals(prices.productId, product), ...equals(prices.isActive, query.is_active)];
    return composedPage(this.infrastructure.db, prices, query, { where, views: (db, rows) => this.showAll(db, caller, rows) });
  }

  /** Prices of exactly this amount, newest first. */
  async findByAmount(caller: Caller, { amount }: AmountPath, query: FindByAmountQuery) {
    const product = query.product_id ? bodyId('product_id', 'product', query.product_id, caller) : null;
    const request = { page_number: 1, page_size: query.page_size, sort_key: 'created_at', sort_descending: true };
    const where = [...this.own(caller), eq(prices.unitAmountAtom, amount), ...equals(prices.productId, product)];
    return composedList(this.infrastructure.db, prices, request, { where, views: (db, rows) => this.showAll(db, caller, rows) });
  }

  async addOns(caller: Caller, id: string): Promise<PriceView[]> {
    const priceId = pathId('price', id, caller);
    return snapshot(this.infrastructure.db, async (db) => {
      const found = await findPrice(db, caller.accountId, priceId);
      if (!found) throw notFound('price');
      return this.showAll(db, caller, await findAddOns(db, caller, found.price));
    });
  }

  private own(caller: Caller): SQL[] {
    return [eq(prices.accountId, caller.accountId), isNull(prices.deletedAt)];
  }

  private show(caller: Caller, id: string): Promise<PriceView> {
    return snapshot(this.infrastructure.db, async (db) => {
      const found = await findPrice(db, caller.accountId, id);
      if (!found) throw notFound('price');
      return (await this.showAll(db, caller, [found.price]))[0]!;
    });
  }

  private async showAll(db: Db, caller: Caller, rows: PriceRow[]): Promise<PriceView[]> {
    const products = await productsOfPrices(db, rows);
    const addOns = await addOnsOfPrices(db, caller, rows);
    return rows.map((row) => priceView(row, products.get(row.productId)!, caller.environment, addOns.get(row.id)));
  }
}

type Written = Omit<UpdatePriceBody, 'price_type' | 'pricing_model'>;

/** The columns that a body sets: absent stays, null clears or goes back to the standard. */
function columnsOf(caller: Caller, body: Written): Partial<PriceFields> {
  const columns: Partial<PriceFields> = {
    name: body.name,
    internalDescription: body.internal_description,
    billingInterval: body.billing_interval,
    billingIntervalCount: body.billing_interval_count,
    trialPeriodDays: body.trial_period_days === null ? 0 : body.trial_period_days,
    defaultNetD: body.default_net_d,
    contractAutoRenew: body.contract_auto_renew,
    contractTermMultiple: body.contract_term_multiple,
    isActive: body.is_active ?? undefined,
    isExclusive: body.is_exclusive === null ? false : body.is_exclusive,
    canOnlyBePurchasedWith: companions(caller, body.can_only_be_purchased_with),
    listedExclusivelyForCustomers: (body.listed_exclusively_for_customers === null ? [] : body.listed_exclusively_for_customers)
      ?.map((id, at) => bodyId(`listed_exclusively_for_customers.${at}`, 'cus', id, caller)),
    customFields: body.custom_fields,
    metadata: body.meta,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

function companions(caller: Caller, ids: string[] | null | undefined): string[] | undefined {
  ids?.forEach((id, at) => bodyId(`can_only_be_purchased_with.${at}`, id.startsWith('product_') ? 'product' : 'price', id, caller));
  return ids === null ? [] : ids;
}

function patchOf(caller: Caller, before: PriceRow, body: UpdatePriceBody): Partial<PriceFields> {
  if (body.currency === null) throw invalidField('currency', 'Cannot be cleared');
  if (body.unit_amount_atom === null) throw invalidField('unit_amount_atom', 'Cannot be cleared');
  const priceType = body.price_type ?? before.priceType;
  const oneTime = priceType === 'one_time';
  const patch: Partial<PriceFields> = {
    ...columnsOf(caller, body),
    ...(body.price_type === undefined ? {} : { priceType }),
    ...(body.currency === undefined ? {} : { currency: body.currency }),
    ...(body.unit_amount_atom === undefined ? {} : { unitAmountAtom: body.unit_amount_atom }),
  };
  if (!oneTime && body.billing_interval_count === null) patch.billingIntervalCount = 1;
  if (!oneTime && before.priceType === 'one_time') patch.billingIntervalCount ??= 1;
  if (oneTime && before.priceType === 'recurring') Object.assign(patch, { billingInterval: null, billingIntervalCount: null, trialPeriodDays: 0 }, columnsOf(caller, body));
  const next = { ...before, ...patch };
  const problems = problemsOfTerms({
    price_type: priceType,
    unit_amount_atom: next.unitAmountAtom,
    billing_interval: next.billingInterval,
    billing_interval_count: next.billingIntervalCount,
    trial_period_days: next.trialPeriodDays,
  });
  if (problems.length === 0) return patch;
  const errors = problems.map(([field, msg]) => ({ loc: ['body', field], msg, type: 'value_error' }));
  throw new DomainError('invalid_request', problems[0]!.join(': '), { errors });
}
