import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, expandQuery, pageOf, type ExpandQuery } from '../kernel/lists.dto.js';
import {
  createCustomerBody, customersQuery, customerShape, listCustomersBody, updateCustomerBody,
  type CreateCustomerBody, type CustomersQuery, type ListCustomersBody, type UpdateCustomerBody,
} from './customers.dto.js';
import { CustomersService } from './customers.service.js';

@ApiTags('customers')
@Controller('customers')
export class CustomersController {
  constructor(private readonly service: CustomersService) {}

  /** Creates a customer. */
  @Post()
  @ApiCreatedResponse({ standardSchema: customerShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createCustomerBody }) body: CreateCustomerBody) {
    return this.service.create(caller, body);
  }

  /** Customers, by page number. */
  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(customerShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listCustomersBody }) body: ListCustomersBody) {
    return this.service.list(caller, body);
  }

  /** Customers, newest first, by cursor. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(customerShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: customersQuery }) query: CustomersQuery) {
    return this.service.browse(caller, query);
  }

  @Get(':customer_id')
  @ApiOkResponse({ standardSchema: customerShape })
  get(@CurrentCaller() caller: Caller, @Param('customer_id') id: string, @Query({ schema: expandQuery }) _expand: ExpandQuery) {
    return this.service.get(caller, id);
  }

  /** Changes what is given: absent stays, null clears. Answers 201, as published. */
  @Put(':customer_id')
  @HttpCode(201)
  @ApiCreatedResponse({ standardSchema: customerShape })
  update(@CurrentCaller() caller: Caller, @Param('customer_id') id: string, @Body({ schema: updateCustomerBody }) body: UpdateCustomerBody) {
    return this.service.update(caller, id, body);
  }

  /** Deletes a customer without living subscriptions (else 409); payments and invoices stay. */
  @Delete(':customer_id')
  @ApiOkResponse({ description: 'Deleted.' })
  delete(@CurrentCaller() caller: Caller, @Param('customer_id') id: string) {
    return this.service.delete(caller, id);
  }
}
