import { Module } from '@nestjs/common';
import { PaymentProcessorsController } from './payment-processors.controller.js';
import { PaymentProcessorsService } from './payment-processors.service.js';

@Module({ controllers: [PaymentProcessorsController], providers: [PaymentProcessorsService] })
export class PaymentProcessorsModule {}
