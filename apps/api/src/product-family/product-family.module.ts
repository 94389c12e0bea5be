import { Module } from '@nestjs/common';
import { ProductFamilyController } from './product-family.controller.js';
import { ProductFamilyService } from './product-family.service.js';

@Module({ controllers: [ProductFamilyController], providers: [ProductFamilyService] })
export class ProductFamilyModule {}
