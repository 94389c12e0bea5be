import { Module } from '@nestjs/common';
import { PaymentIntentsModule } from '../payment-intents/payment-intents.module.js';
import { LinkPaymentsService } from './link-payments.service.js';
import { PayController } from './pay.controller.js';
import { PayService } from './pay.service.js';

@Module({ imports: [PaymentIntentsModule], controllers: [PayController], providers: [PayService, LinkPaymentsService] })
export class PayModule {}
