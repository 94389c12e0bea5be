import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findAsset } from '../../../checkout/src/assets.js';
import { renderTroublePage, renderUnknownPage } from '../../../checkout/src/outcome.page.js';
import type { Page } from '../../../checkout/src/page.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { toDomainError } from '../kernel/problems.filter.js';
import { PayService, type Cookie, type PayAnswer, type Submission, type Visit } from './pay.service.js';

interface Params {
  token: string;
  form: string;
  payment_id: string;
  name: string;
}

type Request = FastifyRequest<{ Params: Params; Querystring: Record<string, string | string[] | undefined> }>;

/** Pages for people, not for programs: public, HTML, with a security policy of their own. */
const HostedPage = () => RouteConfig({ public: true, form: true });

const cookieSeconds = 24 * 3600;

@ApiExcludeController()
@Controller('pay')
export class PayController {
  constructor(
    private readonly service: PayService,
    private readonly infrastructure: Infrastructure,
  ) {}

  @Get('assets/:name')
  @HostedPage()
  asset(@Req() request: Request, @Res() reply: FastifyReply): void {
    const asset = findAsset(request.params.name);
    if (!asset) return this.sendPage(reply, renderUnknownPage(this.common()));
    void reply
      .headers({ 'content-type': asset.type, 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' })
      .send(asset.body);
  }

  @Get('return/:payment_id')
  @HostedPage()
  comeBack(@Req() request: Request, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.comeBack(request.params.payment_id, visitOf(request)));
  }

  @Get(':token')
  @HostedPage()
  show(@Req() request: Request, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.show(request.params.token, visitOf(request), { fresh: request.query.new === '1' }));
  }

  @Post(':token')
  @HostedPage()
  submit(@Req() request: Request, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.submit(request.params.token, submissionOf(request.body), visitOf(request)));
  }

  @Get(':token/payment/:form')
  @HostedPage()
  status(@Req() request: Request, @Res() reply: FastifyReply): Promise<void> {
    const { token, form } = request.params;
    return this.answer(request, reply, () => this.service.status(token, form, { returned: request.query.returned === '1' }));
  }

  private async answer(request: Request, reply: FastifyReply, work: () => Promise<PayAnswer>): Promise<void> {
    try {
      const answer = await work();
      if (answer.cookie) void reply.header('set-cookie', this.cookieText(answer.cookie));
      if ('page' in answer) return this.sendPage(reply, answer.page);
      void reply.code(303).headers({ location: answer.redirect, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).send();
    } catch (error) {
      this.sendPage(reply, this.troublePage(request, error));
    }
  }

  private troublePage(request: Request, error: unknown): Page {
    const { http } = toDomainError(error);
    this.infrastructure.log.error({ request_id: request.id, route: request.routeOptions.url, err: error }, http === 503 ? 'dependency unavailable' : 'request failed');
    return renderTroublePage({ ...this.common(), backUrl: this.backUrl(request), requestId: request.id, status: http === 503 ? 503 : 500 });
  }

  private backUrl(request: Request): string | null {
    const { token } = request.params;
    const { form } = (request.body ?? {}) as Partial<Submission>;
    const safe = (text: string | undefined) => text !== undefined && /^[A-Za-z0-9_.-]{1,100}$/.test(text);
    if (!safe(token)) return null;
    return safe(form) ? `${this.common().base}/${token}/payment/${form}` : `${this.common().base}/${token}`;
  }

  private sendPage(reply: FastifyReply, page: Page): void {
    void reply.code(page.status).headers(page.headers).send(page.markup);
  }

  private cookieText({ name, value }: Cookie): string {
    const secure = this.infrastructure.config.publicUrl.startsWith('https:') ? '; Secure' : '';
    return `${name}=${value}; Path=${this.common().base}; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${secure}`;
  }

  private common() {
    const { config, environment } = this.infrastructure;
    return { base: `${new URL(config.publicUrl).pathname.replace(/\/+$/, '')}/pay`, testMode: environment === 'staging' };
  }
}

function visitOf(request: Request): Visit {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2) as [string, string?]);
  const cookies = new Map(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
  return { cookies, address: request.ip, requestId: request.id };
}

function submissionOf(body: unknown): Submission {
  const fields = body instanceof URLSearchParams ? body : new URLSearchParams();
  const read = (name: string) => (fields.get(name) ?? '').slice(0, 500);
  return {
    form: read('form'), try: read('try'), email: read('email'), name: read('name'),
    number: read('number'), expiry: read('expiry'), cvc: read('cvc'),
  };
}
