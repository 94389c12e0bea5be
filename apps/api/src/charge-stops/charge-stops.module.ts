import { Module } from '@nestjs/common';
import { ChargeStopsController } from './charge-stops.controller.js';
import { ChargeStopsService } from './charge-stops.service.js';

@Module({ controllers: [ChargeStopsController], providers: [ChargeStopsService] })
export class ChargeStopsModule {}
