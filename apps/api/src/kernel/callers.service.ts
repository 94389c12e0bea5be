import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { findCredential, type Credential } from '../../../../libs/db/token.queries.js';
import { readToken } from '../../../../libs/db/token.js';
import { touchToken } from '../../../../libs/db/token.writes.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Caller } from './callers.js';
import { Infrastructure } from './infrastructure.js';

/** Milliseconds for which a token that was found is believed: under the second in which a revocation must hold. */
const credentialTtl = 800;
const lastUsedInterval = 60_000;

/** From the Authorization header to the caller. */
@Injectable()
export class CallersService {
  private readonly known = new LRUCache<string, Credential>({ max: 10_000, ttl: credentialTtl });
  private readonly touched = new LRUCache<string, true>({ max: 10_000, ttl: lastUsedInterval });

  constructor(private readonly infrastructure: Infrastructure) {}

  /** Reads the header without asking the database. The result is the rate limit's key, too. */
  readHash(request: FastifyRequest): string | DomainError {
    const header = request.headers.authorization;
    if (!header) return new DomainError('token_missing');
    const [, token] = /^Bearer +([^\s]+)$/i.exec(header) ?? [];
    if (!token) return new DomainError('token_invalid', 'The Authorization header is not `Bearer <token>`.');
    const { environment, tokenKey } = this.infrastructure.config;
    const reading = readToken(token, environment, tokenKey);
    if (reading.kind === 'ok') return reading.hash;
    return new DomainError(reading.kind === 'other_environment' ? 'token_wrong_environment' : 'token_invalid');
  }

  /** @throws DomainError 401 when the token is unknown, revoked, expired or used from an address that it does not allow. */
  async identify(request: FastifyRequest, hash: string): Promise<Caller> {
    const credential = this.known.get(hash) ?? (await this.look(hash));
    if (!credential || credential.revokedAt || (credential.expiresAt && credential.expiresAt.getTime() <= Date.now())) {
      throw new DomainError('token_invalid');
    }
    if (credential.allowedNetworks && !isWithin(request.ip, credential.allowedNetworks)) throw new DomainError('token_address_refused');
    this.touch(credential.id);
    const { environment } = this.infrastructure;
    return new Caller({
      accountId: credential.accountId,
      environment,
      tokenId: credential.id,
      role: credential.role,
      actor: publicId('tok', environment, credential.id),
      requestId: request.id,
      idempotencyKey: idempotencyKeyOf(request),
      address: request.ip,
    });
  }

  /** Forgets what is cached, so that a change made here holds at once in this process. */
  forget(): void {
    this.known.clear();
  }

  private async look(hash: string): Promise<Credential | null> {
    const credential = await findCredential(this.infrastructure.db, hash);
    if (credential) this.known.set(hash, credential);
    return credential;
  }

  private touch(tokenId: string): void {
    if (this.touched.has(tokenId)) return;
    this.touched.set(tokenId, true);
    touchToken(this.infrastructure.db, tokenId).catch((err: unknown) => {
      this.touched.delete(tokenId);
      this.infrastructure.log.warn({ err, token_id: tokenId }, 'last use of token not recorded');
    });
  }
}

function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' && request.method !== 'GET' ? key : null;
}

export function isWithin(address: string, networks: readonly string[]): boolean {
  const parsed = ipaddr.process(address);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return parsed.kind() === base.kind() && parsed.match([base, bits] as never);
  });
}
