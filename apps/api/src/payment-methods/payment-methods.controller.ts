import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  attachPaymentMethodBody, authorizePaymentMethodBody, createPaymentMethodBody, emptyBody, getPaymentMethodQuery, importMappingBody,
  listCustomerPaymentMethodsBody, listPaymentMethodsBody, paymentMethodMappingShape, paymentMethodShape, paymentMethodsQuery,
  type AttachPaymentMethodBody, type AuthorizePaymentMethodBody, type CreatePaymentMethodBody, type ImportMappingBody,
  type ListCustomerPaymentMethodsBody, type ListPaymentMethodsBody, type PaymentMethodsQuery,
} from './payment-methods.dto.js';
import { PaymentMethodsService } from './payment-methods.service.js';

@ApiTags('payment-methods')
@Controller('payment-methods')
export class PaymentMethodsController {
  constructor(private readonly service: PaymentMethodsService) {}

  /**
   * Tokenises and authorises a method: a test card of the simulator, or what a processor's own browser library returned.
   * Refused: 402 with the decline code, and nothing is created. Any other card number: 422 `unknown_test_card`.
   */
  @Post()
  @ApiCreatedResponse({ standardSchema: paymentMethodShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createPaymentMethodBody }) body: CreatePaymentMethodBody) {
    return this.service.create(caller, body);
  }

  /** Methods, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(paymentMethodShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: paymentMethodsQuery }) query: PaymentMethodsQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(paymentMethodShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listPaymentMethodsBody }) body: ListPaymentMethodsBody) {
    return this.service.list(caller, body);
  }

  /** Authorises a method again without charging it; its status stays. Refused: 402 with the decline code. */
  @Post('authorize')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: paymentMethodShape })
  authorize(@CurrentCaller() caller: Caller, @Body({ schema: authorizePaymentMethodBody }) body: AuthorizePaymentMethodBody) {
    return this.service.authorize(caller, body);
  }

  @Get(':payment_method_id')
  @ApiOkResponse({ standardSchema: paymentMethodShape })
  get(@CurrentCaller() caller: Caller, @Param('payment_method_id') id: string, @Query({ schema: getPaymentMethodQuery }) _query: unknown) {
    return this.service.get(caller, id);
  }

  /** Attaches an authorised method to a customer, once: a second time, or to another customer, is 409. */
  @Post(':payment_method_id/attach')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: paymentMethodShape })
  attach(@CurrentCaller() caller: Caller, @Param('payment_method_id') id: string, @Body({ schema: attachPaymentMethodBody }) body: AttachPaymentMethodBody) {
    return this.service.attach(caller, id, body);
  }

  /** No later charge uses the method; captures, refunds and lookups of earlier ones go on. Final. */
  @Post(':payment_method_id/detach')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: paymentMethodShape })
  detach(@CurrentCaller() caller: Caller, @Param('payment_method_id') id: string, @Body({ schema: emptyBody }) _body: unknown) {
    return this.service.detach(caller, id);
  }

  /** Says how another connection knows the method, so that routes may use it there. */
  @Post(':payment_method_id/mappings')
  @ApiCreatedResponse({ standardSchema: paymentMethodMappingShape })
  importMapping(@CurrentCaller() caller: Caller, @Param('payment_method_id') id: string, @Body({ schema: importMappingBody }) body: ImportMappingBody) {
    return this.service.importMapping(caller, id, body);
  }
}

@ApiTags('payment-methods')
@Controller('customers/:customer_id/payment-methods')
export class CustomerPaymentMethodsController {
  constructor(private readonly service: PaymentMethodsService) {}

  /** The customer's methods, detached ones included. */
  @Post()
  @HttpCode(200)
  @Roles('READ_ONLY')
  @ApiOkResponse({ standardSchema: pageOf(paymentMethodShape) })
  list(
    @CurrentCaller() caller: Caller,
    @Param('customer_id') customerId: string,
    @Body({ schema: listCustomerPaymentMethodsBody }) body: ListCustomerPaymentMethodsBody,
  ) {
    return this.service.listOfCustomer(caller, customerId, body);
  }
}
