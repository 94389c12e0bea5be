import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { InvoicePagesService, type InvoiceSubmission } from './invoice-pages.service.js';
import { fieldsOf, HostedPage, PageAnswers, visitOf, type PageRequest, type PayAnswer } from './page-answers.js';

/** An invoice for the customer who holds its address. */
@ApiExcludeController()
@Controller('pay/invoices')
export class InvoicePagesController {
  constructor(
    private readonly service: InvoicePagesService,
    private readonly answers: PageAnswers,
  ) {}

  @Get(':token')
  @HostedPage()
  show(@Req() request: PageRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.show(request.params.token, { returned: request.query.returned === '1' }));
  }

  @Post(':token')
  @HostedPage()
  submit(@Req() request: PageRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(request, reply, () => this.service.submit(request.params.token, submissionOf(request.body), visitOf(request)));
  }

  private answer(request: PageRequest, reply: FastifyReply, work: () => Promise<PayAnswer>): Promise<void> {
    const { token } = request.params;
    const backUrl = /^[A-Za-z0-9_.-]{1,100}$/.test(token) ? `${this.answers.common().base}/invoices/${token}` : null;
    return this.answers.answer(request, reply, { work, backUrl });
  }
}

function submissionOf(body: unknown): InvoiceSubmission {
  const read = fieldsOf(body);
  return { try: read('try'), keep: read('keep') === '1', email: '', name: '', number: read('number'), expiry: read('expiry'), cvc: read('cvc') };
}
