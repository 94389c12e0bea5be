import { Module } from '@nestjs/common';
import { PaymentIntentsModule } from '../payment-intents/payment-intents.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { InvoicesController } from './invoices.controller.js';
import { InvoicesService } from './invoices.service.js';
import { ManualInvoicesService } from './manual-invoices.service.js';
import { PublicInvoicesService } from './public-invoices.service.js';

@Module({
  imports: [PaymentIntentsModule, SubscriptionsModule],
  controllers: [InvoicesController],
  providers: [InvoicesService, ManualInvoicesService, PublicInvoicesService],
})
export class InvoicesModule {}
