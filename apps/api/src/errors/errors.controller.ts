import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { catalogue, type ErrorCode } from '../../../../libs/errors/catalogue.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { Public } from '../kernel/roles.guard.js';

interface ErrorExplanation {
  code: string;
  http: number;
  title: string;
  explanation: string;
  /** Whether the same request may succeed later without a change. */
  retryable: boolean;
}

@ApiTags('service')
@Controller('errors')
export class ErrorsController {
  /** All error codes. */
  @Get()
  @Public()
  @ApiOkResponse({ description: 'Every code with its explanation.' })
  list(): { data: ErrorExplanation[] } {
    return { data: Object.keys(catalogue).map((code) => explain(code as ErrorCode)) };
  }

  /** What an error code means and what to do; the `type` of every problem document points here. */
  @Get(':code')
  @Public()
  @ApiOkResponse({ description: 'The explanation.' })
  get(@Param('code') code: string): ErrorExplanation {
    if (!Object.hasOwn(catalogue, code)) throw notFound('error code');
    return explain(code as ErrorCode);
  }
}

function explain(code: ErrorCode): ErrorExplanation {
  return { code, ...catalogue[code] };
}
