import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import {
  advanceTestClockBody, createTestClockBody, deleteTestClockShape, listTestClocksBody, testClockShape, testClocksQuery,
  type AdvanceTestClockBody, type CreateTestClockBody, type ListTestClocksBody, type TestClocksQuery,
} from './test-clocks.dto.js';
import { TestClocksService } from './test-clocks.service.js';

@ApiTags('test-clocks')
@Controller('test-clocks')
export class TestClocksController {
  constructor(private readonly service: TestClocksService) {}

  @Post()
  @ApiCreatedResponse({ standardSchema: testClockShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createTestClockBody }) body: CreateTestClockBody) {
    return this.service.create(caller, body);
  }

  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(testClockShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: testClocksQuery }) query: TestClocksQuery) {
    return this.service.browse(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(testClockShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listTestClocksBody }) body: ListTestClocksBody) {
    return this.service.list(caller, body);
  }

  @Get(':test_clock_id')
  @ApiOkResponse({ standardSchema: testClockShape })
  get(@CurrentCaller() caller: Caller, @Param('test_clock_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Answers at once, `advancing`; everything that falls due happens after that, in order, and the clock is `ready` again. */
  @Post(':test_clock_id/advance')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: testClockShape })
  advance(@CurrentCaller() caller: Caller, @Param('test_clock_id') id: string, @Body({ schema: advanceTestClockBody }) body: AdvanceTestClockBody) {
    return this.service.advance(caller, id, body);
  }

  /** Its subscriptions are cancelled without money, its customers deleted. */
  @Delete(':test_clock_id')
  @ApiOkResponse({ standardSchema: deleteTestClockShape })
  delete(@CurrentCaller() caller: Caller, @Param('test_clock_id') id: string) {
    return this.service.delete(caller, id);
  }
}
