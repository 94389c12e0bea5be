import { Module } from '@nestjs/common';
import { PaymentIntentsController } from './payment-intents.controller.js';
import { PaymentIntentsService } from './payment-intents.service.js';
import { SettlementsService } from './settlements.service.js';

@Module({ controllers: [PaymentIntentsController], providers: [PaymentIntentsService, SettlementsService], exports: [SettlementsService] })
export class PaymentIntentsModule {}
