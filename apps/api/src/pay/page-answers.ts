import { Injectable } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderTroublePage } from '../../../checkout/src/outcome.page.js';
import type { Page } from '../../../checkout/src/page.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { toDomainError } from '../kernel/problems.filter.js';

export interface PageParams {
  token: string;
  form: string;
  payment_id: string;
  name: string;
}

export type PageRequest = FastifyRequest<{ Params: PageParams; Querystring: Record<string, string | string[] | undefined> }>;

export interface Visit {
  /** By name. */
  cookies: Map<string, string>;
  address: string;
  requestId: string;
}

export interface Cookie {
  name: string;
  value: string;
}

/** A page, or another address to go to (303). */
export type PayAnswer = { page: Page; cookie?: Cookie } | { redirect: string; cookie?: Cookie };

/** Pages for people, not for programs: public, HTML, with a security policy of their own. */
export const HostedPage = () => RouteConfig({ public: true, form: true });

const cookieSeconds = 24 * 3600;

/** Sends pages; what fails becomes a page too. */
@Injectable()
export class PageAnswers {
  constructor(private readonly infrastructure: Infrastructure) {}

  /** `backUrl` leads from a failure to how the payment stands. */
  async answer(request: PageRequest, reply: FastifyReply, { work, backUrl }: { work: () => Promise<PayAnswer>; backUrl: string | null }): Promise<void> {
    try {
      const answer = await work();
      if (answer.cookie) void reply.header('set-cookie', this.cookieText(answer.cookie));
      if ('page' in answer) return this.sendPage(reply, answer.page);
      void reply.code(303).headers({ location: answer.redirect, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).send();
    } catch (error) {
      this.sendPage(reply, this.troublePage(request, error, backUrl));
    }
  }

  sendPage(reply: FastifyReply, page: Page): void {
    void reply.code(page.status).headers(page.headers).send(page.markup);
  }

  common(): { base: string; testMode: boolean } {
    const { config, environment } = this.infrastructure;
    return { base: `${new URL(config.publicUrl).pathname.replace(/\/+$/, '')}/pay`, testMode: environment === 'staging' };
  }

  private troublePage(request: PageRequest, error: unknown, backUrl: string | null): Page {
    const { http } = toDomainError(error);
    this.infrastructure.log.error({ request_id: request.id, route: request.routeOptions.url, err: error }, http === 503 ? 'dependency unavailable' : 'request failed');
    return renderTroublePage({ ...this.common(), backUrl, requestId: request.id, status: http === 503 ? 503 : 500 });
  }

  private cookieText({ name, value }: Cookie): string {
    const secure = this.infrastructure.config.publicUrl.startsWith('https:') ? '; Secure' : '';
    return `${name}=${value}; Path=${this.common().base}; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

export function visitOf(request: PageRequest): Visit {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2) as [string, string?]);
  const cookies = new Map(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
  return { cookies, address: request.ip, requestId: request.id };
}

/** Reads a sent form; every field is text, cut at 500 characters. */
export function fieldsOf(body: unknown): (name: string) => string {
  const fields = body instanceof URLSearchParams ? body : new URLSearchParams();
  return (name) => (fields.get(name) ?? '').slice(0, 500);
}
