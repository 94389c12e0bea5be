import type { Socket } from 'node:net';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Histogram } from 'prom-client';
import { newId } from '../../../../libs/db/mint.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { publicId } from '../../../../libs/views/ids.js';
import { largestBody, parseBody } from './bodies.parser.js';
import { CallersService } from './callers.service.js';
import type { Infrastructure } from './infrastructure.js';
import { problemType, renderProblem } from './problems.filter.js';

const windowSeconds = 1;
const largestForm = 16 * 1024;

/** Fastify as this service needs it: both spellings of a path, our request ids, strict bodies, problems everywhere. */
export function createAdapter(infrastructure: Infrastructure): FastifyAdapter {
  const { config, environment } = infrastructure;
  return new FastifyAdapter({
    bodyLimit: largestBody,
    genReqId: () => publicId('req', environment, newId()),
    requestIdHeader: false,
    return503OnClosing: false,
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const problem = renderProblem(new DomainError('not_found', 'There is no such path.'), request, config.publicUrl);
      const headers = { ...problem.headers, 'x-request-id': request.id, 'content-type': problemType };
      void reply.code(problem.status).headers(headers).send(Buffer.from(problem.body));
    },
    clientErrorHandler: (error, socket) => refuseConnection(infrastructure, error, socket as Socket),
  });
}

/** What was not even HTTP, or had too large a head. */
function refuseConnection(infrastructure: Infrastructure, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const id = publicId('req', infrastructure.environment, newId());
  const { body } = renderProblem(new DomainError('unreadable_json', 'This is not a readable HTTP request.'), { id }, infrastructure.config.publicUrl);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: ${problemType}\r\nx-request-id: ${id}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Paths that exist, asked for the methods that one takes. */
export interface RouteTable {
  allowedMethods(path: string): string[];
}

/** Adds what runs before Nest. Call it before the routes are registered. */
export async function prepareServer(server: FastifyInstance, infrastructure: Infrastructure, callers: CallersService): Promise<RouteTable> {
  const routes = collectRoutes(server);
  await server.register(rateLimit, {
    global: false,
    max: infrastructure.config.rateLimitPerSecond,
    timeWindow: windowSeconds * 1000,
    keyGenerator: (request) => request.tokenHash ?? request.ip,
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: largestBody }, (request, bytes, done) => {
    try {
      done(null, request.routeOptions.config.raw ? bytes : parseBody(bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: largestBody }, (request, bytes, done) => {
    if (request.routeOptions.config.raw) done(null, bytes);
    else done(new DomainError('unsupported_media_type'));
  });
  server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer', bodyLimit: largestBody }, (request, bytes, done) => {
    const { form, raw } = request.routeOptions.config;
    if (raw) done(null, bytes);
    else if (!form) done(new DomainError('unsupported_media_type'));
    else if (bytes.length > largestForm) done(new DomainError('payload_too_large'));
    else done(null, new URLSearchParams(bytes.toString('utf8')));
  });
  const limit = server.createRateLimit();
  const callbackLimit = server.createRateLimit({ keyGenerator: (request) => `${request.ip} ${request.url.split('?')[0]}` });
  server.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    const hash = callers.readHash(request);
    if (typeof hash === 'string') request.tokenHash = hash;
    const isPublic = request.is404 || request.routeOptions.config.public === true;
    if (!isPublic || request.is404) spendLimit(await limit(request), reply);
    if (request.routeOptions.config.raw) spendLimit(await callbackLimit(request), reply);
    if (isPublic) return;
    if (typeof hash !== 'string') throw hash;
    request.caller = await callers.identify(request, hash);
  });
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    hsts: infrastructure.config.publicUrl.startsWith('https:'),
  });
  observe(server, infrastructure);
  return routes;
}

type Limit = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

function spendLimit(limit: Limit, reply: FastifyReply): void {
  if (limit.isAllowed) return;
  void reply.header('ratelimit-policy', `"token";q=${limit.max};w=${windowSeconds}`);
  void reply.header('ratelimit', `"token";r=${limit.remaining};t=${limit.ttlInSeconds}`);
  if (limit.isExceeded) throw new DomainError('rate_limited', undefined, { retryAfterSeconds: limit.ttlInSeconds });
}

function collectRoutes(server: FastifyInstance): RouteTable {
  const patterns: { method: string; pattern: RegExp }[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    const source = url.replace(/\/+$/, '').split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : escape(part))).join('/');
    for (const name of [method].flat()) patterns.push({ method: name, pattern: new RegExp(`^${source}/?$`) });
  });
  return {
    allowedMethods: (path) => [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))],
  };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const quietRoutes = new Set(['/healthz', '/readyz']);

function observe(server: FastifyInstance, { log, metrics }: Infrastructure): void {
  const durations = new Histogram({
    name: 'signalbox_http_request_seconds',
    help: 'Time from a request\'s arrival to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'unknown' : request.routeOptions.url ?? 'unknown';
    durations.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    log[quietRoutes.has(route) ? 'debug' : 'info'](requestFields(request, reply, route), 'request');
    done();
  });
}

function requestFields(request: FastifyRequest, reply: FastifyReply, route: string): Record<string, unknown> {
  const [object] = Object.values((request.params ?? {}) as Record<string, string>);
  return {
    request_id: request.id,
    ...(request.caller ? { account_id: publicId('acct', request.caller.environment, request.caller.accountId), token_id: request.caller.actor } : {}),
    ...(object && /^[a-z_]+_[0-9a-z]{26}$/.test(object) ? { object_id: object } : {}),
    method: request.method,
    route,
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
  };
}

