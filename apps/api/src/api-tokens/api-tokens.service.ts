import { Injectable } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import { findToken, listTokens } from '../../../../libs/db/token.queries.js';
import { createToken, revokeToken, updateToken, type TokenPatch } from '../../../../libs/db/token.writes.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { apiTokenView } from '../../../../libs/views/api-token.view.js';
import type { Caller } from '../kernel/callers.js';
import { CallersService } from '../kernel/callers.service.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import type { CreateApiTokenBody, RollApiTokenBody, UpdateApiTokenBody } from './api-tokens.dto.js';

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

  async list(caller: Caller) {
    const rows = await listTokens(this.infrastructure.db, caller.accountId);
    return { data: rows.map((row) => apiTokenView(row, this.infrastructure.environment)), has_more: false, next_cursor: null };
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
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => updateToken(tx, caller.change(), { id: tokenId, patch }));
    this.callers.forget();
    return apiTokenView(row, this.infrastructure.environment);
  }

  async revoke(caller: Caller, id: string): Promise<void> {
    const tokenId = pathId('tok', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) => revokeToken(tx, caller.change(), tokenId));
    this.callers.forget();
  }

  /** A new token with the same name, role and networks; the old one ends after the overlap. */
  async roll(caller: Caller, id: string, body: RollApiTokenBody) {
    const { db, config, environment } = this.infrastructure;
    const tokenId = pathId('tok', id, caller);
    const old = await findToken(db, caller.accountId, tokenId);
    if (!old) throw notFound('token');
    if (old.revokedAt) throw new DomainError('conflict', 'This token is revoked.');
    if (old.rolledToId && old.rolledToId !== caller.objectId()) throw new DomainError('conflict', 'This token was rolled already.');
    const end = new Date(Date.now() + body.overlap_seconds * 1000);
    const expiresAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
    const { row, token } = await transact(db, caller.change(), async (tx) => {
      const { name, role, allowedNetworks } = old;
      const created = await createToken(tx, caller.change(), {
        id: caller.objectId(), name, role, allowedNetworks, expiresAt: old.expiresAt, tokenKey: config.tokenKey,
      });
      await updateToken(tx, caller.change(), { id: tokenId, patch: { rolledToId: created.row.id, expiresAt } });
      return created;
    });
    this.callers.forget();
    return { ...apiTokenView(row, environment), token };
  }
}
