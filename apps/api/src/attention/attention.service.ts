import { Injectable } from '@nestjs/common';
import { eq, isNotNull, isNull } from 'drizzle-orm';
import { findAttention } from '../../../../libs/db/attention.queries.js';
import { resolveAttention } from '../../../../libs/db/attention-resolution.writes.js';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { attentionItems, type AttentionItemRow } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { attentionView } from '../../../../libs/views/attention.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage } from '../kernel/lists.js';
import type { AttentionQuery, ResolveAttentionBody } from './attention.dto.js';

@Injectable()
export class AttentionService {
  constructor(private readonly infrastructure: Infrastructure) {}

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
    const itemId = pathId('att', id, caller);
    const row = await transact(this.infrastructure.db, caller.change(), (tx) =>
      resolveAttention(tx, caller.change(), { id: itemId, resolution: body.resolution ?? null }));
    return this.view(row);
  }

  private view(row: AttentionItemRow) {
    return attentionView(row, this.infrastructure.environment);
  }
}
