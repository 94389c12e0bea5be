import { Module } from '@nestjs/common';
import { PaymentIntentsModule } from '../payment-intents/payment-intents.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { CardTriesService } from './card-tries.service.js';
import { InvoicePagesController } from './invoice-pages.controller.js';
import { InvoicePagesService } from './invoice-pages.service.js';
import { InvoicePaymentsService } from './invoice-payments.service.js';
import { LinkPaymentsService } from './link-payments.service.js';
import { PageAnswers } from './page-answers.js';
import { PayController } from './pay.controller.js';
import { PayPagesService } from './pay-pages.service.js';
import { PayService } from './pay.service.js';

@Module({
  imports: [PaymentIntentsModule, SubscriptionsModule],
  controllers: [InvoicePagesController, PayController],
  providers: [PageAnswers, PayService, PayPagesService, CardTriesService, LinkPaymentsService, InvoicePagesService, InvoicePaymentsService],
})
export class PayModule {}
