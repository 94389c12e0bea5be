import { Body, Controller, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Public } from '../kernel/roles.guard.js';
import {
  createPaymentLinkBody, listPaymentLinksBody, paymentLinkShape, paymentLinksQuery, publicLinkQuery, publicPaymentLinkShape, updatePaymentLinkBody,
  type CreatePaymentLinkBody, type ListPaymentLinksBody, type PaymentLinksQuery, type UpdatePaymentLinkBody,
} from './payment-links.dto.js';
import { PaymentLinksService } from './payment-links.service.js';

@ApiTags('payment-links')
@Controller('payment-link')
export class PaymentLinksController {
  constructor(private readonly service: PaymentLinksService) {}

  /** Makes a page on which anybody who has its address pays once per visit. One-time prices of one currency. */
  @Post()
  @ApiCreatedResponse({ standardSchema: paymentLinkShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createPaymentLinkBody }) body: CreatePaymentLinkBody) {
    return this.service.create(caller, body);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(paymentLinkShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listPaymentLinksBody }) body: ListPaymentLinksBody) {
    return this.service.list(caller, body);
  }

  /** Newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(paymentLinkShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: paymentLinksQuery }) query: PaymentLinksQuery) {
    return this.service.page(caller, query);
  }

  /** What the page shows, for whoever holds its token; `ref_id` and `customer_id` are accepted and say nothing yet. */
  @Get('public/:secure_token')
  @Public()
  @ApiOkResponse({ standardSchema: publicPaymentLinkShape })
  getPublic(@Param('secure_token') token: string, @Query({ schema: publicLinkQuery }) _query: unknown) {
    return this.service.getPublic(token);
  }

  /** Answers 201, as published. */
  @Get(':plink_id')
  @HttpCode(201)
  @ApiCreatedResponse({ standardSchema: paymentLinkShape })
  get(@CurrentCaller() caller: Caller, @Param('plink_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Switches a link off and on, or changes where it leads. What it sells does not change: make a new link. */
  @Put(':plink_id')
  @ApiOkResponse({ standardSchema: paymentLinkShape })
  update(@CurrentCaller() caller: Caller, @Param('plink_id') id: string, @Body({ schema: updatePaymentLinkBody }) body: UpdatePaymentLinkBody) {
    return this.service.update(caller, id, body);
  }
}
