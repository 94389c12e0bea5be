import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, expandQuery, pageOf, type ExpandQuery } from '../kernel/lists.dto.js';
import {
  createProductBody, listProductsBody, productShape, productsQuery, updateProductBody,
  type CreateProductBody, type ListProductsBody, type ProductsQuery, type UpdateProductBody,
} from './products.dto.js';
import { ProductsService } from './products.service.js';

@ApiTags('products')
@Controller('products')
export class ProductsController {
  constructor(private readonly service: ProductsService) {}

  /** Creates a product, without prices. */
  @Post()
  @ApiCreatedResponse({ standardSchema: productShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createProductBody }) body: CreateProductBody) {
    return this.service.create(caller, body);
  }

  /** Products, by page number. */
  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(productShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listProductsBody }) body: ListProductsBody) {
    return this.service.list(caller, body);
  }

  /** Products, newest first, by cursor. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(productShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: productsQuery }) query: ProductsQuery) {
    return this.service.browse(caller, query);
  }

  @Get(':product_id')
  @ApiOkResponse({ standardSchema: productShape })
  get(@CurrentCaller() caller: Caller, @Param('product_id') id: string, @Query({ schema: expandQuery }) _expand: ExpandQuery) {
    return this.service.get(caller, id);
  }

  /** Changes what is given: absent stays, null clears. */
  @Put(':product_id')
  @ApiOkResponse({ standardSchema: productShape })
  update(@CurrentCaller() caller: Caller, @Param('product_id') id: string, @Body({ schema: updateProductBody }) body: UpdateProductBody) {
    return this.service.update(caller, id, body);
  }

  /** Deletes the product and its prices; once one of them was used, archives them (`is_active: false`) instead. */
  @Delete(':product_id')
  @ApiOkResponse({ description: 'Deleted or archived; `message` says which.' })
  delete(@CurrentCaller() caller: Caller, @Param('product_id') id: string) {
    return this.service.delete(caller, id);
  }
}
