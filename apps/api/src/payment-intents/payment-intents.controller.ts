import { Body, Controller, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import {
  cancelPaymentIntentBody, capturePaymentIntentBody, confirmPaymentIntentBody, createPaymentIntentBody, getQuery, listPaymentIntentsBody,
  paymentDecisionShape, paymentIntentShape, paymentIntentsQuery, updatePaymentIntentBody,
  type CapturePaymentIntentBody, type ConfirmPaymentIntentBody, type CreatePaymentIntentBody, type ListPaymentIntentsBody,
  type PaymentIntentsQuery, type UpdatePaymentIntentBody,
} from './payment-intents.dto.js';
import { PaymentIntentsService } from './payment-intents.service.js';

@ApiTags('payment-intents')
@Controller('payment-intents')
export class PaymentIntentsController {
  constructor(private readonly service: PaymentIntentsService) {}

  /**
   * The wish to collect an amount. With `confirm` the answer is the outcome: 201 with the intent, or 402 with the decline
   * code, `payment_intent_id` and `charge_id`. After 10 s the answer is the intent in `processing`; it goes on by itself.
   */
  @Post()
  @ApiCreatedResponse({ standardSchema: paymentIntentShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createPaymentIntentBody }) body: CreatePaymentIntentBody) {
    return this.service.create(caller, body);
  }

  /** Intents, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(paymentIntentShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: paymentIntentsQuery }) query: PaymentIntentsQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(paymentIntentShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listPaymentIntentsBody }) body: ListPaymentIntentsBody) {
    return this.service.list(caller, body);
  }

  @Get(':payment_intent_id')
  @ApiOkResponse({ standardSchema: paymentIntentShape })
  get(@CurrentCaller() caller: Caller, @Param('payment_intent_id') id: string, @Query({ schema: getQuery }) _query: unknown) {
    return this.service.get(caller, id);
  }

  @Put(':payment_intent_id')
  @ApiOkResponse({ standardSchema: paymentIntentShape })
  update(@CurrentCaller() caller: Caller, @Param('payment_intent_id') id: string, @Body({ schema: updatePaymentIntentBody }) body: UpdatePaymentIntentBody) {
    return this.service.update(caller, id, body);
  }

  /** Asks for the money, also again after a refusal. 409 `payment_in_flight` while an attempt has no outcome. */
  @Post(':payment_intent_id/confirm')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: paymentIntentShape })
  confirm(@CurrentCaller() caller: Caller, @Param('payment_intent_id') id: string, @Body({ schema: confirmPaymentIntentBody }) body: ConfirmPaymentIntentBody) {
    return this.service.confirm(caller, id, body);
  }

  /** Takes an authorised amount, once, all or part of it; what is left is released. */
  @Post(':payment_intent_id/capture')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: paymentIntentShape })
  capture(@CurrentCaller() caller: Caller, @Param('payment_intent_id') id: string, @Body({ schema: capturePaymentIntentBody }) body: CapturePaymentIntentBody) {
    return this.service.capture(caller, id, body);
  }

  /** An authorisation or an open challenge is cancelled at its processor first. */
  @Post(':payment_intent_id/cancel')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: paymentIntentShape })
  cancel(@CurrentCaller() caller: Caller, @Param('payment_intent_id') id: string, @Body({ schema: cancelPaymentIntentBody }) _body: unknown) {
    return this.service.cancel(caller, id);
  }

  /** Which connection each attempt went to, who was skipped, and why. */
  @Get(':payment_intent_id/decisions')
  @ApiOkResponse({ standardSchema: z.array(paymentDecisionShape) })
  decisions(@CurrentCaller() caller: Caller, @Param('payment_intent_id') id: string) {
    return this.service.decisions(caller, id);
  }
}
