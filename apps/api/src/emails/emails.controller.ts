import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import {
  emailPreviewShape, emailShape, emailsQuery, previewEmailBody, resendEmailBody, type EmailsQuery, type PreviewEmailBody,
} from './emails.dto.js';
import { EmailsService } from './emails.service.js';

@ApiTags('emails')
@Controller('emails')
export class EmailsController {
  constructor(private readonly service: EmailsService) {}

  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(emailShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: emailsQuery }) query: EmailsQuery) {
    return this.service.browse(caller, query);
  }

  @Get(':email_id')
  @ApiOkResponse({ standardSchema: emailShape })
  get(@CurrentCaller() caller: Caller, @Param('email_id') id: string) {
    return this.service.get(caller, id);
  }

  /** The mail as it would be sent now; nothing is sent or stored. */
  @Post('preview')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: emailPreviewShape })
  preview(@CurrentCaller() caller: Caller, @Body({ schema: previewEmailBody }) body: PreviewEmailBody) {
    return this.service.preview(caller, body);
  }

  /** The same mail once more, rendered anew. */
  @Post(':email_id/resend')
  @ApiCreatedResponse({ standardSchema: emailShape })
  resend(@CurrentCaller() caller: Caller, @Param('email_id') id: string, @Body({ schema: resendEmailBody.optional() }) _body: object | undefined) {
    return this.service.resend(caller, id);
  }
}
