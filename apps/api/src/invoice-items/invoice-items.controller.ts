import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { invoiceItemShape } from '../invoices/invoices.dto.js';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { pageOf } from '../kernel/lists.dto.js';
import {
  createInvoiceItemBody, deletedInvoiceItemShape, listInvoiceItemsBody, type CreateInvoiceItemBody, type ListInvoiceItemsBody,
} from './invoice-items.dto.js';
import { InvoiceItemsService } from './invoice-items.service.js';

@ApiTags('invoice-items')
@Controller('invoice-items')
export class InvoiceItemsController {
  constructor(private readonly service: InvoiceItemsService) {}

  /** A line that the customer's next invoice takes. */
  @Post()
  @ApiCreatedResponse({ standardSchema: invoiceItemShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createInvoiceItemBody }) body: CreateInvoiceItemBody) {
    return this.service.create(caller, body);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(invoiceItemShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listInvoiceItemsBody }) body: ListInvoiceItemsBody) {
    return this.service.list(caller, body);
  }

  @Get(':invoice_item_id')
  @ApiOkResponse({ standardSchema: invoiceItemShape })
  get(@CurrentCaller() caller: Caller, @Param('invoice_item_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Only of a draft, or pending. 409 for a line of an invoice that was finalised. */
  @Delete(':invoice_item_id')
  @ApiOkResponse({ standardSchema: deletedInvoiceItemShape })
  delete(@CurrentCaller() caller: Caller, @Param('invoice_item_id') id: string) {
    return this.service.delete(caller, id);
  }
}
