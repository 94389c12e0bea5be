import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  connectionCheckShape, createPaymentProcessorBody, listPaymentProcessorsBody, paymentProcessorShape, paymentProcessorsQuery, rotateCredentialsBody,
  switchProcessorBody, updatePaymentProcessorBody, watchedProcessorShape,
  type CreatePaymentProcessorBody, type ListPaymentProcessorsBody, type PaymentProcessorsQuery, type RotateCredentialsBody,
  type UpdatePaymentProcessorBody,
} from './payment-processors.dto.js';
import { PaymentProcessorsService } from './payment-processors.service.js';

@ApiTags('payment-processors')
@Controller('payment-processors')
export class PaymentProcessorsController {
  constructor(private readonly service: PaymentProcessorsService) {}

  /** Makes a connection to a processor. Routes name it by its id. The simulator exists in staging only. */
  @Post()
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: paymentProcessorShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createPaymentProcessorBody }) body: CreatePaymentProcessorBody) {
    return this.service.create(caller, body);
  }

  /** Connections, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(paymentProcessorShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: paymentProcessorsQuery }) query: PaymentProcessorsQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(paymentProcessorShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listPaymentProcessorsBody }) body: ListPaymentProcessorsBody) {
    return this.service.list(caller, body);
  }

  @Get(':payment_processor_id')
  @ApiOkResponse({ standardSchema: watchedProcessorShape })
  get(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Changes name, credentials, settings (as a whole) or whether new charges may go there. */
  @Put(':payment_processor_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: paymentProcessorShape })
  update(
    @CurrentCaller() caller: Caller,
    @Param('payment_processor_id') id: string,
    @Body({ schema: updatePaymentProcessorBody }) body: UpdatePaymentProcessorBody,
  ) {
    return this.service.update(caller, id, body);
  }

  /** Replaces the credentials; callbacks signed with the replaced secrets are accepted for the overlap. */
  @Post(':payment_processor_id/rotate-credentials')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: paymentProcessorShape })
  rotate(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string, @Body({ schema: rotateCredentialsBody }) body: RotateCredentialsBody) {
    return this.service.rotate(caller, id, body);
  }

  /** No new charge goes there; captures, refunds and lookups go on. */
  @Post(':payment_processor_id/disable')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: paymentProcessorShape })
  disable(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string, @Body({ schema: switchProcessorBody }) _body: unknown) {
    return this.service.update(caller, id, { is_enabled: false });
  }

  @Post(':payment_processor_id/enable')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: paymentProcessorShape })
  enable(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string, @Body({ schema: switchProcessorBody }) _body: unknown) {
    return this.service.update(caller, id, { is_enabled: true });
  }

  /** Asks the processor whether it accepts the credentials. A processor that is down is an answer, not an error. */
  @Post(':payment_processor_id/check')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: connectionCheckShape })
  check(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string, @Body({ schema: switchProcessorBody }) _body: unknown) {
    return this.service.check(caller, id);
  }

  /** Takes the connection out of use for new charges; captures, refunds and lookups of its charges go on. */
  @Delete(':payment_processor_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: paymentProcessorShape })
  delete(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string) {
    return this.service.delete(caller, id);
  }
}
