import { Injectable } from '@nestjs/common';
import { eq, ilike, isNull, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { equals, matching } from '../../../../libs/db/list.queries.js';
import { addOnsOfPrices } from '../../../../libs/db/price.queries.js';
import { findProduct, pricesOfProducts } from '../../../../libs/db/product.queries.js';
import { createProduct, deleteProduct, updateProduct, type ProductFields } from '../../../../libs/db/product.writes.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import { products, type ProductRow } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { productWithPricesView } from '../../../../libs/views/product.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import type { CreateProductBody, ListProductsBody, ProductsQuery, UpdateProductBody } from './products.dto.js';

@Injectable()
export class ProductsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateProductBody) {
    const fields: ProductFields = {
      name: body.name,
      description: body.description,
      accountSku: body.account_sku,
      features: body.features,
      unitLabel: body.unit_label,
      isActive: body.is_active,
      customFields: body.custom_fields,
      metadata: body.metadata,
    };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => createProduct(tx, caller.change(), { id: caller.objectId(), fields }));
    return this.show(caller, row.id);
  }

  async get(caller: Caller, id: string) {
    return this.show(caller, pathId('product', id, caller));
  }

  async update(caller: Caller, id: string, body: UpdateProductBody) {
    const productId = pathId('product', id, caller);
    const price = body.default_price_id;
    const fields = withoutAbsent<Partial<ProductFields>>({
      name: body.name ?? undefined,
      description: body.description,
      accountSku: body.account_sku,
      features: body.features === null ? [] : body.features,
      unitLabel: body.unit_label,
      isActive: body.is_active ?? undefined,
      defaultPriceId: price ? bodyId('default_price_id', 'price', price, caller) : price,
      customFields: body.custom_fields,
      metadata: body.metadata,
    });
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => updateProduct(tx, caller.change(), { id: productId, fields }));
    return this.show(caller, row.id);
  }

  async delete(caller: Caller, id: string) {
    const productId = pathId('product', id, caller);
    const { archived } = await transact(this.infrastructure.db, caller.change(), (tx) =>
      onceIfKeyed(tx, caller.change(), { objectId: productId, step: 'delete' }, () => deleteProduct(tx, caller.change(), productId)));
    return { product_id: id, message: archived ? 'Product archived: a price of it is in use.' : 'Product deleted.' };
  }

  async list(caller: Caller, body: ListProductsBody) {
    const contains = body.name_contains ? [ilike(products.name, `%${body.name_contains.replace(/[\\%_]/g, '\\$&')}%`)] : [];
    return composedList(this.infrastructure.db, products, body, {
      where: [...this.own(caller), ...equals(products.isActive, body.is_active), ...contains, ...matching(products.name, body.search)],
      sorts: { name: products.name },
      views: (db, rows) => this.showAll(db, caller, rows),
    });
  }

  async browse(caller: Caller, query: ProductsQuery) {
    const where = [...this.own(caller), ...equals(products.isActive, query.is_active)];
    return composedPage(this.infrastructure.db, products, query, { where, views: (db, rows) => this.showAll(db, caller, rows) });
  }

  private own(caller: Caller): SQL[] {
    return [eq(products.accountId, caller.accountId), isNull(products.deletedAt)];
  }

  private show(caller: Caller, id: string) {
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findProduct(db, caller.accountId, id);
      if (!row) throw notFound('product');
      return (await this.showAll(db, caller, [row]))[0]!;
    });
  }

  private async showAll(db: Db, caller: Caller, rows: ProductRow[]) {
    const prices = await pricesOfProducts(db, rows.map((row) => row.id));
    const addOns = await addOnsOfPrices(db, caller, [...prices.values()].flat());
    return rows.map((row) => productWithPricesView(row, { prices: prices.get(row.id) ?? [], addOns }, caller.environment));
  }
}

function withoutAbsent<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
