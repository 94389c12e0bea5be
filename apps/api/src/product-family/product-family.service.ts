import { Injectable } from '@nestjs/common';
import { eq, isNotNull, isNull } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { findProductFamily, unknownProducts } from '../../../../libs/db/product.queries.js';
import { createProductFamily, deleteProductFamily, updateProductFamily, type ProductFamilyFields } from '../../../../libs/db/product.writes.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import { productFamilies, type ProductFamilyRow } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { productFamilyView } from '../../../../libs/views/product.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import type { CreateProductFamilyBody, ListProductFamiliesBody, ProductFamiliesQuery, UpdateProductFamilyBody } from './product-family.dto.js';

@Injectable()
export class ProductFamilyService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateProductFamilyBody) {
    const products = await this.members(caller, body.products);
    const fields: ProductFamilyFields = { name: body.name, description: body.description, hierarchy: body.hierarchy, products };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) =>
      createProductFamily(tx, caller.change(), { id: caller.objectId(), fields }));
    return this.view(row);
  }

  async get(caller: Caller, id: string) {
    const row = await findProductFamily(this.infrastructure.db, caller.accountId, pathId('pf', id, caller));
    if (!row) throw notFound('product family');
    return this.view(row);
  }

  async update(caller: Caller, id: string, body: UpdateProductFamilyBody) {
    const familyId = pathId('pf', id, caller);
    const fields: Partial<ProductFamilyFields> = {
      ...(body.name ? { name: body.name } : {}),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.hierarchy === undefined ? {} : { hierarchy: body.hierarchy ?? '{}' }),
      ...(body.products === undefined ? {} : { products: await this.members(caller, body.products ?? []) }),
    };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => updateProductFamily(tx, caller.change(), { id: familyId, fields }));
    return this.view(row);
  }

  async delete(caller: Caller, id: string): Promise<void> {
    const familyId = pathId('pf', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) =>
      onceIfKeyed(tx, caller.change(), { objectId: familyId, step: 'delete' }, async () => {
        await deleteProductFamily(tx, caller.change(), familyId);
        return true;
      }));
  }

  list(caller: Caller, body: ListProductFamiliesBody) {
    const state = body.is_deleted ? isNotNull(productFamilies.deletedAt) : isNull(productFamilies.deletedAt);
    return listPage(this.infrastructure.db, productFamilies, body, {
      where: [eq(productFamilies.accountId, caller.accountId), state],
      sorts: { name: productFamilies.name },
      view: (row) => this.view(row),
    });
  }

  browse(caller: Caller, query: ProductFamiliesQuery) {
    const where = [eq(productFamilies.accountId, caller.accountId), isNull(productFamilies.deletedAt)];
    return cursorPage(this.infrastructure.db, productFamilies, query, { where, view: (row) => this.view(row) });
  }

  private async members(caller: Caller, ids: string[]): Promise<string[]> {
    const uuids = ids.map((id, at) => bodyId(`products.${at}`, 'product', id, caller));
    const [unknown] = await unknownProducts(this.infrastructure.db, caller.accountId, uuids);
    if (unknown) throw unknownReference(`products.${uuids.indexOf(unknown)}`, 'product');
    return [...new Set(uuids)];
  }

  private view(row: ProductFamilyRow) {
    return productFamilyView(row, this.infrastructure.environment);
  }
}
