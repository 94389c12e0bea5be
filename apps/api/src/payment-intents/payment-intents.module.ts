import { Module } from '@nestjs/common';
import { HandOversService } from './hand-overs.service.js';
import { PaymentIntentsController } from './payment-intents.controller.js';
import { PaymentIntentsService } from './payment-intents.service.js';
import { SettlementsService } from './settlements.service.js';

@Module({ controllers: [PaymentIntentsController], providers: [PaymentIntentsService, SettlementsService, HandOversService], exports: [SettlementsService] })
export class PaymentIntentsModule {}
