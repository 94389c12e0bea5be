import { Injectable } from '@nestjs/common';
import { eq, ilike, isNull, type SQL } from 'drizzle-orm';
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
import { cursorPage, listPage } from '../kernel/lists.js';
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
    return this.show(caller, row);
  }

  async get(caller: Caller, id: string) {
    const row = await findProduct(this.infrastructure.db, caller.accountId, pathId('product', id, caller));
    if (!row) throw notFound('product');
    return this.show(caller, row);
  }

  async update(caller: Caller, id: string, body: UpdateProductBody) {
    const productId = pathId('product', id, caller);
    const price = body.default_price_id;
    const fields = withoutAbsent<Partial<ProductFields>>({
      name: body.name,
      description: body.description,
      accountSku: body.account_sku,
      features: body.features === null ? [] : body.features,
      unitLabel: body.unit_label,
      isActive: body.is_active,
      defaultPriceId: price ? bodyId('default_price_id', 'price', price, caller) : price,
      customFields: body.custom_fields,
      metadata: body.metadata,
    });
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => updateProduct(tx, caller.change(), { id: productId, fields }));
    return this.show(caller, row);
  }

  async delete(caller: Caller, id: string) {
    const productId = pathId('product', id, caller);
    const { archived } = await transact(this.infrastructure.db, caller.change(), (tx) =>
      onceIfKeyed(tx, caller.change(), { objectId: productId, step: 'delete' }, () => deleteProduct(tx, caller.change(), productId)));
    return { product_id: id, message: archived ? 'Product archived: a price of it is in use.' : 'Product deleted.' };
  }

  async list(caller: Caller, body: ListProductsBody) {
    const contains = body.name_contains ? [ilike(products.name, `%${body.name_contains.replace(/[\\%_]/g, '\\$&')}%`)] : [];
    const page = await listPage(this.infrastructure.db, products, body, {
      where: [...this.own(caller), ...equals(products.isActive, body.is_active), ...contains, ...matching(products.name, body.search)],
      sorts: { name: products.name },
      view: (row) => row,
    });
    return { ...page, data: await this.showAll(caller, page.data) };
  }

  async browse(caller: Caller, query: ProductsQuery) {
    const where = [...this.own(caller), ...equals(products.isActive, query.is_active)];
    const page = await cursorPage(this.infrastructure.db, products, query, { where, view: (row) => row });
    return { ...page, data: await this.showAll(caller, page.data) };
  }

  private own(caller: Caller): SQL[] {
    return [eq(products.accountId, caller.accountId), isNull(products.deletedAt)];
  }

  private async show(caller: Caller, row: ProductRow) {
    const [shown] = await this.showAll(caller, [row]);
    return shown!;
  }

  private async showAll(caller: Caller, rows: ProductRow[]) {
    const { db } = this.infrastructure;
    const prices = await pricesOfProducts(db, rows.map((row) => row.id));
    const addOns = await addOnsOfPrices(db, caller, [...prices.values()].flat());
    return rows.map((row) => productWithPricesView(row, { prices: prices.get(row.id) ?? [], addOns }, caller.environment));
  }
}

function withoutAbsent<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
