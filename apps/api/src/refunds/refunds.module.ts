import { Module } from '@nestjs/common';
import { PaymentIntentsModule } from '../payment-intents/payment-intents.module.js';
import { RefundsController } from './refunds.controller.js';
import { RefundsService } from './refunds.service.js';

@Module({ imports: [PaymentIntentsModule], controllers: [RefundsController], providers: [RefundsService] })
export class RefundsModule {}
