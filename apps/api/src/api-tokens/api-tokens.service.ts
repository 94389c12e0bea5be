import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { apiTokens, type ApiTokenRow } from '../../../../libs/db/schema/index.js';
import { findToken } from '../../../../libs/db/token.queries.js';
import { createToken, revokeToken, rollToken, updateToken, type TokenPatch } from '../../../../libs/db/token.writes.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { apiTokenView } from '../../../../libs/views/api-token.view.js';
import type { Caller } from '../kernel/callers.js';
import { CallersService, isWithin } from '../kernel/callers.service.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import type { ApiTokensQuery, CreateApiTokenBody, ListApiTokensBody, RollApiTokenBody, UpdateApiTokenBody } from './api-tokens.dto.js';

@Injectable()
export class ApiTokensService {
  constructor(private readonly infrastructure: Infrastructure, private readonly callers: CallersService) {}

  async create(caller: Caller, body: CreateApiTokenBody) {
    const { db, config, environment } = this.infrastructure;
    const { row, token } = await transact(db, caller.change(), (tx) => createToken(tx, caller.change(), {
      id: caller.objectId(),
      name: body.name,
      role: body.role,
      expiresAt: body.expires_at ?? null,
      allowedNetworks: body.allowed_networks ?? null,
      tokenKey: config.tokenKey,
    }));
    return { ...apiTokenView(row, environment), token };
  }

  listNumbered(caller: Caller, body: ListApiTokensBody) {
    return listPage(this.infrastructure.db, apiTokens, body, { ...this.own(caller), sorts: { name: apiTokens.name } });
  }

  list(caller: Caller, query: ApiTokensQuery) {
    return cursorPage(this.infrastructure.db, apiTokens, query, this.own(caller));
  }

  async get(caller: Caller, id: string) {
    const row = await findToken(this.infrastructure.db, caller.accountId, pathId('tok', id, caller));
    if (!row) throw notFound('token');
    return apiTokenView(row, this.infrastructure.environment);
  }

  async update(caller: Caller, id: string, body: UpdateApiTokenBody) {
    const patch: TokenPatch = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.role === undefined ? {} : { role: body.role }),
      ...(body.expires_at === undefined ? {} : { expiresAt: body.expires_at }),
      ...(body.allowed_networks === undefined ? {} : { allowedNetworks: body.allowed_networks }),
    };
    const tokenId = pathId('tok', id, caller);
    if (body.allowed_networks && tokenId === caller.tokenId && !isWithin(caller.address, body.allowed_networks)) {
      throw invalidField('allowed_networks', `Would shut out ${caller.address}, where this token is used now`);
    }
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => updateToken(tx, caller.change(), { id: tokenId, patch }));
    this.callers.forget();
    return apiTokenView(row, this.infrastructure.environment);
  }

  async revoke(caller: Caller, id: string): Promise<void> {
    const tokenId = pathId('tok', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) => revokeToken(tx, caller.change(), tokenId));
    this.callers.forget();
  }

  /** A new token with the same name, role, expiry and networks; the old one ends after the overlap. */
  async roll(caller: Caller, id: string, body: RollApiTokenBody) {
    const { db, config, environment } = this.infrastructure;
    const ids = { id: pathId('tok', id, caller), successorId: caller.objectId() };
    const wish = { ...ids, overlapSeconds: body.overlap_seconds, tokenKey: config.tokenKey };
    const { row, token } = await transact(db, caller.change(), (tx) => rollToken(tx, caller.change(), wish));
    this.callers.forget();
    return { ...apiTokenView(row, environment), token };
  }

  private own(caller: Caller) {
    return { where: [eq(apiTokens.accountId, caller.accountId)], view: (row: ApiTokenRow) => apiTokenView(row, caller.environment) };
  }
}
