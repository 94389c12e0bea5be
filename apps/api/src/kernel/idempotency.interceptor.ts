import { createHmac } from 'node:crypto';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import canonicalizeModule from 'canonicalize';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import {
  beatKey, completeKey, dropKey, findKey, releaseKey, takeOverKey, type KeyOwner,
} from '../../../../libs/db/idempotency.writes.js';
import { newId } from '../../../../libs/db/mint.js';
import type { IdempotencyKeyRow } from '../../../../libs/db/schema/index.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import type { Caller } from './callers.js';
import { Infrastructure } from './infrastructure.js';
import { problemType, renderProblem, toDomainError } from './problems.filter.js';
import { ReplayedAnswer, type StoredAnswer } from './replays.js';

const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;
const heartbeatMs = 10_000;
const jsonType = 'application/json; charset=utf-8';

/**
 * Same key, same parameters, same token: one effect and the same bytes. The record itself is made by `transact` with the
 * first write; here it is looked up before the handler and completed, freed or left open after it.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly infrastructure: Infrastructure) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { caller } = request;
    if (!caller || caller.idempotencyKey === null) return next.handle();
    return from(this.run(caller, request, { next, reply: http.getResponse<FastifyReply>() }));
  }

  private async run(caller: Caller, request: FastifyRequest, { next, reply }: { next: CallHandler; reply: FastifyReply }): Promise<unknown> {
    const key = caller.idempotencyKey!;
    if (!/^[\x20-\x7e\u0080-\u00ff]{1,255}$/.test(key)) throw new DomainError('idempotency_key_invalid');
    const owner: KeyOwner = { accountId: caller.accountId, key, owner: newId() };
    const fingerprint = this.fingerprint(request);
    const record = await findKey(this.infrastructure.db, caller.accountId, key);
    if (record) await this.continue(record, { caller, fingerprint, owner: owner.owner });
    caller.claim = { key, fingerprint, tokenId: caller.tokenId, owner: owner.owner, objectId: record?.objectId ?? newId() };
    const heartbeat = setInterval(() => void this.quietly(beatKey(this.infrastructure.db, owner)), heartbeatMs);
    try {
      const result = await lastValueFrom(next.handle(), { defaultValue: undefined });
      const body = result === undefined ? '' : JSON.stringify(result);
      await this.settle(owner, caller, { status: reply.statusCode, answer: { type: jsonType, body } });
      return result;
    } catch (error) {
      throw await this.afterError(error, { owner, caller, fingerprint, request });
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** Replays a finished record, refuses a foreign or busy one, takes over a silent one. */
  private async continue(record: IdempotencyKeyRow, { caller, fingerprint, owner }: { caller: Caller; fingerprint: string; owner: string | null }): Promise<void> {
    if (record.fingerprint !== fingerprint || record.tokenId !== caller.tokenId) throw new DomainError('idempotency_key_reused');
    if (record.completedAt) {
      const place = sealPlace(record.commandId);
      throw new ReplayedAnswer(record.responseStatus!, JSON.parse(this.infrastructure.secrets.open(record.responseSealed!, place)) as StoredAnswer);
    }
    const taken = owner !== null && (await takeOverKey(this.infrastructure.db, record, owner));
    if (!taken) throw new DomainError('idempotency_key_in_use', undefined, { retryAfterSeconds: 1 });
    caller.commandId = record.commandId;
  }

  private async settle(owner: KeyOwner, caller: Caller, { status, answer }: { status: number; answer: StoredAnswer }): Promise<void> {
    const { db, secrets } = this.infrastructure;
    if (caller.open) return this.quietly(releaseKey(db, owner));
    const sealed = secrets.seal(JSON.stringify(answer), sealPlace(caller.commandId));
    return this.quietly(completeKey(db, owner, { status, sealed }));
  }

  private async afterError(
    error: unknown,
    { owner, caller, fingerprint, request }: { owner: KeyOwner; caller: Caller; fingerprint: string; request: FastifyRequest },
  ): Promise<unknown> {
    const { db, config } = this.infrastructure;
    const known = toDomainError(error);
    if (known.code === 'idempotency_key_in_use') return this.afterLostRace(known, { caller, fingerprint });
    if (known.http === 402) {
      const { body } = renderProblem(known, request, config.publicUrl);
      await this.settle(owner, caller, { status: 402, answer: { type: problemType, body } });
    } else {
      await this.quietly(known.http >= 500 ? releaseKey(db, owner) : dropKey(db, owner));
    }
    return error;
  }

  /** Another request wrote the record first; if it is done already, its answer is ours. */
  private async afterLostRace(lost: DomainError, { caller, fingerprint }: { caller: Caller; fingerprint: string }): Promise<unknown> {
    const record = await findKey(this.infrastructure.db, caller.accountId, caller.idempotencyKey!);
    if (!record) return lost;
    return this.continue(record, { caller, fingerprint, owner: null }).then(() => lost, (error: unknown) => error);
  }

  private fingerprint(request: FastifyRequest): string {
    const [path, query = ''] = request.url.split('?', 2) as [string, string?];
    const body = request.body === undefined ? '' : canonicalize(request.body);
    const text = [request.method, path.replace(/\/+$/, ''), query, body].join('\n');
    return createHmac('sha256', this.infrastructure.config.tokenKey).update('idempotency\n').update(text).digest('hex');
  }

  /** The answer stands whatever happens to its record: an unfinished one is continued by the next caller. */
  private async quietly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (err) {
      this.infrastructure.log.warn({ err }, 'idempotency record not updated');
    }
  }
}

function sealPlace(commandId: string) {
  return { table: 'idempotency_keys', column: 'response_sealed', row: commandId };
}
