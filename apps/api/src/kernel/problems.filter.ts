import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isCollision, isDatabaseOutage } from '../../../../libs/db/outage.js';
import { catalogue, type ErrorCode } from '../../../../libs/errors/catalogue.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { isTemporalOutage } from '../../../../libs/temporal/connection.js';
import type { Infrastructure } from './infrastructure.js';
import { ReplayedAnswer } from './replays.js';

export interface Problem {
  status: number;
  headers: Record<string, string>;
  /** The RFC 9457 document as it is sent. */
  body: string;
}

export const problemType = 'application/problem+json';

const codeOfStatus: Record<number, ErrorCode> = {
  400: 'unreadable_json', 404: 'not_found', 405: 'method_not_allowed', 413: 'payload_too_large', 414: 'not_found',
  415: 'unsupported_media_type', 429: 'rate_limited', 503: 'service_unavailable',
};

/** Any thrown value as a DomainError: what is unknown says "Internal error" and nothing else. */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (isDatabaseOutage(error) || isTemporalOutage(error)) return new DomainError('service_unavailable');
  if (isCollision(error)) return new DomainError('version_conflict', undefined, { retryAfterSeconds: 1 });
  const status = error instanceof HttpException ? error.getStatus() : ((error as { statusCode?: unknown } | null)?.statusCode ?? 500);
  return new DomainError(codeOfStatus[status as number] ?? 'internal');
}

export function renderProblem(error: DomainError, request: { id: string; method?: string }, publicUrl: string): Problem {
  const { title, http, explanation } = catalogue[error.code];
  const { errors: fields, extra, retryAfterSeconds } = error.details;
  // A GET has no body: what it names is in its query.
  const errors = request.method === 'GET' ? fields?.map((field) => ({ ...field, loc: field.loc.with(0, field.loc[0] === 'body' ? 'query' : field.loc[0]!) })) : fields;
  const headers: Record<string, string> = {};
  const retryAfter = retryAfterSeconds ?? (http === 503 || http === 429 ? 1 : undefined);
  if (retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfter)));
  if (http === 401) headers['www-authenticate'] = error.code === 'token_missing' ? 'Bearer' : 'Bearer error="invalid_token"';
  const code = typeof extra?.['code'] === 'string' ? extra['code'] : error.code;
  const body = JSON.stringify({
    ...extra,
    type: `${publicUrl}/errors/${code}`,
    title,
    status: http,
    detail: error.message === title ? explanation : error.message,
    code,
    request_id: request.id,
    ...(errors ? { errors } : http === 422 ? { errors: [] } : {}),
  });
  return { status: http, headers, body };
}

/** Where every error leaves the API. `allowedMethods` answers for a path that exists with other methods. */
@Catch()
export class ProblemsFilter implements ExceptionFilter {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly allowedMethods: (path: string) => string[],
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (error instanceof ReplayedAnswer) {
      const { type, body } = error.answer;
      void reply.code(error.status).header('idempotent-replayed', 'true');
      void (body === '' ? reply.send() : reply.header('content-type', type).send(Buffer.from(body)));
      return;
    }
    const known = this.refineNotFound(error, request, reply);
    if (known.http >= 500) {
      const fields = { request_id: request.id, account_id: request.caller?.accountId, route: request.routeOptions?.url, err: error };
      this.infrastructure.log.error(fields, known.http === 503 ? 'dependency unavailable' : 'request failed');
    }
    if (reply.sent) return;
    const problem = renderProblem(known, request, this.infrastructure.config.publicUrl);
    void reply.code(problem.status).headers(problem.headers).header('content-type', problemType).send(Buffer.from(problem.body));
  }

  private refineNotFound(error: unknown, request: FastifyRequest, reply: FastifyReply): DomainError {
    const known = toDomainError(error);
    if (!request.is404 || known.code !== 'not_found') return known;
    const methods = this.allowedMethods(request.url.split('?')[0]!);
    if (methods.length === 0) return new DomainError('not_found', 'There is no such path.');
    void reply.header('allow', methods.join(', '));
    return new DomainError('method_not_allowed', `This path takes ${methods.join(', ')}.`);
  }
}
