import { Module } from '@nestjs/common';
import { BalanceTransactionsController } from './balance-transactions.controller.js';
import { BalanceTransactionsService } from './balance-transactions.service.js';
import { CustomersController } from './customers.controller.js';
import { CustomersService } from './customers.service.js';

@Module({ controllers: [CustomersController, BalanceTransactionsController], providers: [CustomersService, BalanceTransactionsService] })
export class CustomersModule {}
