import { Body, Controller, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { Public } from '../kernel/roles.guard.js';
import { cursorPageOf, expandQuery, pageOf, type ExpandQuery } from '../kernel/lists.dto.js';
import {
  closeInvoiceBody, commentBody, createInvoiceBody, invoiceShape, invoicesQuery, listInvoicesBody, payInvoiceBody, publicInvoiceShape, updateInvoiceBody,
  type CloseInvoiceBody, type CommentBody, type CreateInvoiceBody, type InvoicesQuery, type ListInvoicesBody, type PayInvoiceBody, type UpdateInvoiceBody,
} from './invoices.dto.js';
import { InvoicesService } from './invoices.service.js';
import { ManualInvoicesService } from './manual-invoices.service.js';
import { PublicInvoicesService } from './public-invoices.service.js';

@ApiTags('invoices')
@Controller()
export class InvoicesController {
  constructor(
    private readonly service: InvoicesService,
    private readonly manual: ManualInvoicesService,
    private readonly publicInvoices: PublicInvoicesService,
  ) {}

  /**
   * An invoice of one-time prices, of lines that are pending, or both. A decline of its payment answers 200: the invoice is
   * there, `past_due`, and can be paid later.
   */
  @Post('invoices')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createInvoiceBody }) body: CreateInvoiceBody) {
    return this.manual.create(caller, body);
  }

  /** What the holder of an invoice's hosted address may see; no token of the API is needed. */
  @Get('invoices/public/:public_permanent_token')
  @Public()
  @ApiOkResponse({ standardSchema: publicInvoiceShape })
  public(@Param('public_permanent_token') token: string) {
    return this.publicInvoices.get(token);
  }

  /** A draft takes all of it; later only what harms nothing. */
  @Put('invoices/:invoice_id')
  @ApiOkResponse({ standardSchema: invoiceShape })
  update(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: updateInvoiceBody }) body: UpdateInvoiceBody) {
    return this.manual.update(caller, id, body);
  }

  /** Gives a draft its number; what is to be charged is charged at once. A decline answers 200 with `past_due`. */
  @Post('invoices/:invoice_id/finalize')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  finalize(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string) {
    return this.manual.finalize(caller, id);
  }

  /** A note that stays with the invoice. */
  @Post('invoices/:invoice_id/comment')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  comment(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: commentBody }) body: CommentBody) {
    return this.manual.comment(caller, id, body);
  }

  /** Invoices, by page number. */
  @Post('invoices/list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(invoiceShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listInvoicesBody }) body: ListInvoicesBody) {
    return this.service.list(caller, body);
  }

  /** Invoices, newest first, by cursor. */
  @Get('invoices')
  @ApiOkResponse({ standardSchema: cursorPageOf(invoiceShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: invoicesQuery }) query: InvoicesQuery) {
    return this.service.browse(caller, query);
  }

  /** What the end of the current trial or period will bill; stores nothing. */
  @Get('invoices/preview_next_invoice/:subscription_id')
  @ApiOkResponse({ standardSchema: invoiceShape })
  previewNext(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string) {
    return this.service.previewNext(caller, id);
  }

  @Get('invoices/:invoice_id')
  @ApiOkResponse({ standardSchema: invoiceShape })
  get(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Query({ schema: expandQuery }) _expand: ExpandQuery) {
    return this.service.get(caller, id);
  }

  /**
   * Confirms the invoice's one payment intent, or records a payment by another way. A decline is 402 with
   * `payment_intent_id` and `charge_id`; 409 `payment_in_flight` while an attempt has no outcome.
   */
  @Post('invoices/:invoice_id/pay')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  pay(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: payInvoiceBody }) body: PayInvoiceBody) {
    return this.service.pay(caller, id, body);
  }

  /** It will not be collected. 409 while its payment has no outcome. */
  @Post('invoices/:invoice_id/void')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  void(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: closeInvoiceBody }) body: CloseInvoiceBody) {
    return this.service.close(caller, id, { as: 'void', comment: body.comment ?? null });
  }

  /** Given up, but it may still be paid. */
  @Post('invoices/:invoice_id/mark_uncollectible')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  writeOff(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: closeInvoiceBody }) body: CloseInvoiceBody) {
    return this.service.close(caller, id, { as: 'uncollectible', comment: body.comment ?? null });
  }
}
