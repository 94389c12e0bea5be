import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { newId } from '../../../../libs/db/mint.js';
import type { Change, Claim } from '../../../../libs/domain/change/change.js';
import type { Environment } from '../../../../libs/domain/environment.js';
import type { Role } from '../../../../libs/domain/role.js';

export interface CallerFacts {
  accountId: string;
  environment: Environment;
  tokenId: string;
  role: Role;
  /** Public id of the token; it ends up on the event as `user`. */
  actor: string;
  requestId: string;
  idempotencyKey: string | null;
  /** The client's address; from `X-Forwarded-For` only behind configured proxies. */
  address: string;
}

/** Who sends this request, and the command it is. */
export class Caller implements CallerFacts {
  readonly accountId: string;
  readonly environment: Environment;
  readonly tokenId: string;
  readonly role: Role;
  readonly actor: string;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly address: string;
  /** Stays the same when a retry with the same idempotency key continues this work. */
  commandId: string = newId();
  claim: Claim | null = null;
  /** Set by `leaveOpen`. */
  open = false;
  private minted: string | null = null;

  constructor(facts: CallerFacts) {
    this.accountId = facts.accountId;
    this.environment = facts.environment;
    this.tokenId = facts.tokenId;
    this.role = facts.role;
    this.actor = facts.actor;
    this.requestId = facts.requestId;
    this.idempotencyKey = facts.idempotencyKey;
    this.address = facts.address;
  }

  /** What goes into `transact`, or through Temporal into an activity. */
  change(): Change {
    return {
      accountId: this.accountId,
      environment: this.environment,
      actor: this.actor,
      requestId: this.requestId,
      idempotencyKey: this.idempotencyKey,
      commandId: this.commandId,
      clockTime: null,
      claim: this.claim,
    };
  }

  /** Id for the object that this request creates; a retry that continues the work gets the same one. */
  objectId(): string {
    this.minted ??= this.claim?.objectId ?? newId();
    return this.minted;
  }

  /**
   * The answer is not the outcome yet (a payment is still `processing`): it is not stored under the idempotency key, and the
   * same key asks again.
   */
  leaveOpen(): void {
    this.open = true;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller;
    tokenHash?: string;
    startedAt?: number;
  }
  interface FastifyContextConfig {
    /** Answers without a token. */
    public?: boolean;
    /** Takes any content type and hands the body on as bytes. */
    raw?: boolean;
    /** Takes `application/x-www-form-urlencoded`, as browsers send a page's form. */
    form?: boolean;
  }
}

export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error('This route is public: it has no caller.');
  return request.caller;
}

export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()));
