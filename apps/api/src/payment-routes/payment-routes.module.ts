import { Module } from '@nestjs/common';
import { PaymentRoutesController } from './payment-routes.controller.js';
import { PaymentRoutesService } from './payment-routes.service.js';

@Module({ controllers: [PaymentRoutesController], providers: [PaymentRoutesService] })
export class PaymentRoutesModule {}
