import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { findAsset } from '../../../checkout/src/assets.js';
import { renderUnknownPage } from '../../../checkout/src/outcome.page.js';
import { fieldsOf, HostedPage, PageAnswers, visitOf, type PageRequest, type PayAnswer } from './page-answers.js';
import { PayService, type Submission } from './pay.service.js';

@ApiExcludeController()
@Controller('pay')
export class PayController {
  constructor(
    private readonly service: PayService,
    private readonly answers: PageAnswers,
  ) {}

  @Get('assets/:name')
  @HostedPage()
  asset(@Req() request: PageRequest, @Res() reply: FastifyReply): void {
    const asset = findAsset(request.params.name);
    if (!asset) return this.answers.sendPage(reply, renderUnknownPage(this.answers.common()));
    void reply
      .headers({ 'content-type': asset.type, 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' })
      .send(asset.body);
  }

  @Get('return/:payment_id')
  @HostedPage()
  comeBack(@Req() request: PageRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.comeBack(request.params.payment_id, visitOf(request)));
  }

  @Get(':token')
  @HostedPage()
  show(@Req() request: PageRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.show(request.params.token, visitOf(request), { fresh: request.query.new === '1' }));
  }

  @Post(':token')
  @HostedPage()
  submit(@Req() request: PageRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.submit(request.params.token, submissionOf(request.body), visitOf(request)));
  }

  @Get(':token/payment/:form')
  @HostedPage()
  status(@Req() request: PageRequest, @Res() reply: FastifyReply): Promise<void> {
    const { token, form } = request.params;
    return this.answer(request, reply, () => this.service.status(token, form, { returned: request.query.returned === '1' }));
  }

  private answer(request: PageRequest, reply: FastifyReply, work: () => Promise<PayAnswer>): Promise<void> {
    return this.answers.answer(request, reply, { work, backUrl: this.backUrl(request) });
  }

  private backUrl(request: PageRequest): string | null {
    const { token } = request.params;
    const { form } = (request.body ?? {}) as Partial<Submission>;
    const safe = (text: string | undefined) => text !== undefined && /^[A-Za-z0-9_.-]{1,100}$/.test(text);
    if (!safe(token)) return null;
    return safe(form) ? `${this.answers.common().base}/${token}/payment/${form}` : `${this.answers.common().base}/${token}`;
  }
}

function submissionOf(body: unknown): Submission {
  const read = fieldsOf(body);
  return {
    form: read('form'), try: read('try'), email: read('email'), name: read('name'),
    number: read('number'), expiry: read('expiry'), cvc: read('cvc'),
  };
}
