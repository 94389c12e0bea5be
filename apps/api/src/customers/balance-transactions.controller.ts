import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import {
  balanceTransactionShape, balanceTransactionsQuery, createBalanceTransactionBody,
  type BalanceTransactionsQuery, type CreateBalanceTransactionBody,
} from './balance-transactions.dto.js';
import { BalanceTransactionsService } from './balance-transactions.service.js';

@ApiTags('customers')
@Controller('customers/:customer_id/balance-transactions')
export class BalanceTransactionsController {
  constructor(private readonly service: BalanceTransactionsService) {}

  /** Corrects the customer's credit; it pays the next invoices in its currency. */
  @Post()
  @ApiCreatedResponse({ standardSchema: balanceTransactionShape })
  create(
    @CurrentCaller() caller: Caller,
    @Param('customer_id') customerId: string,
    @Body({ schema: createBalanceTransactionBody }) body: CreateBalanceTransactionBody,
  ) {
    return this.service.create(caller, customerId, body);
  }

  /** All that changed the customer's credit, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: z.array(balanceTransactionShape) })
  list(
    @CurrentCaller() caller: Caller,
    @Param('customer_id') customerId: string,
    @Query({ schema: balanceTransactionsQuery }) _query: BalanceTransactionsQuery,
  ) {
    return this.service.list(caller, customerId);
  }

  @Get(':transaction_id')
  @ApiOkResponse({ standardSchema: balanceTransactionShape })
  get(@CurrentCaller() caller: Caller, @Param('customer_id') customerId: string, @Param('transaction_id') id: string) {
    return this.service.get(caller, customerId, id);
  }
}
