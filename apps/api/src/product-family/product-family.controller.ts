import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import {
  createProductFamilyBody, listProductFamiliesBody, productFamiliesQuery, productFamilyShape, updateProductFamilyBody,
  type CreateProductFamilyBody, type ListProductFamiliesBody, type ProductFamiliesQuery, type UpdateProductFamilyBody,
} from './product-family.dto.js';
import { ProductFamilyService } from './product-family.service.js';

@ApiTags('product-family')
@Controller('product-family')
export class ProductFamilyController {
  constructor(private readonly service: ProductFamilyService) {}

  /** Creates a named group of products. Answers 200, as published. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: productFamilyShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createProductFamilyBody }) body: CreateProductFamilyBody) {
    return this.service.create(caller, body);
  }

  /** Families, by page number. */
  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(productFamilyShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listProductFamiliesBody }) body: ListProductFamiliesBody) {
    return this.service.list(caller, body);
  }

  /** Families, newest first, by cursor. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(productFamilyShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: productFamiliesQuery }) query: ProductFamiliesQuery) {
    return this.service.browse(caller, query);
  }

  @Get(':id')
  @ApiOkResponse({ standardSchema: productFamilyShape })
  get(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return this.service.get(caller, id);
  }

  /** Changes what is given. */
  @Put(':id')
  @ApiOkResponse({ standardSchema: productFamilyShape })
  update(@CurrentCaller() caller: Caller, @Param('id') id: string, @Body({ schema: updateProductFamilyBody }) body: UpdateProductFamilyBody) {
    return this.service.update(caller, id, body);
  }

  /** Deletes the group; its products stay. */
  @Delete(':id')
  @HttpCode(204)
  @ApiNoContentResponse({ description: 'Deleted.' })
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.service.delete(caller, id);
  }
}
