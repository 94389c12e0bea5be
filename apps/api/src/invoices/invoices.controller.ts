import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, expandQuery, pageOf, type ExpandQuery } from '../kernel/lists.dto.js';
import {
  closeInvoiceBody, invoiceItemShape, invoiceShape, invoicesQuery, listInvoiceItemsBody, listInvoicesBody, payInvoiceBody,
  type CloseInvoiceBody, type InvoicesQuery, type ListInvoiceItemsBody, type ListInvoicesBody, type PayInvoiceBody,
} from './invoices.dto.js';
import { InvoicesService } from './invoices.service.js';

@ApiTags('invoices')
@Controller()
export class InvoicesController {
  constructor(private readonly service: InvoicesService) {}

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
  void(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: closeInvoiceBody }) _body: CloseInvoiceBody) {
    return this.service.close(caller, id, 'void');
  }

  /** Given up, but it may still be paid. */
  @Post('invoices/:invoice_id/mark_uncollectible')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: invoiceShape })
  writeOff(@CurrentCaller() caller: Caller, @Param('invoice_id') id: string, @Body({ schema: closeInvoiceBody }) _body: CloseInvoiceBody) {
    return this.service.close(caller, id, 'uncollectible');
  }

  @Post('invoice-items/list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(invoiceItemShape) })
  items(@CurrentCaller() caller: Caller, @Body({ schema: listInvoiceItemsBody }) body: ListInvoiceItemsBody) {
    return this.service.items(caller, body);
  }

  @Get('invoice-items/:invoice_item_id')
  @ApiOkResponse({ standardSchema: invoiceItemShape })
  item(@CurrentCaller() caller: Caller, @Param('invoice_item_id') id: string) {
    return this.service.item(caller, id);
  }
}
