import { Module } from '@nestjs/common';
import { PaymentIntentsModule } from '../payment-intents/payment-intents.module.js';
import { AttentionController } from './attention.controller.js';
import { AttentionService } from './attention.service.js';

@Module({ imports: [PaymentIntentsModule], controllers: [AttentionController], providers: [AttentionService] })
export class AttentionModule {}
