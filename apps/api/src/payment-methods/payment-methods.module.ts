import { Module } from '@nestjs/common';
import { CustomerPaymentMethodsController, PaymentMethodsController } from './payment-methods.controller.js';
import { PaymentMethodsService } from './payment-methods.service.js';

@Module({ controllers: [PaymentMethodsController, CustomerPaymentMethodsController], providers: [PaymentMethodsService] })
export class PaymentMethodsModule {}
