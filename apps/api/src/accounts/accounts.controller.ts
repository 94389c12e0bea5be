import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { Roles } from '../kernel/roles.guard.js';
import { accountShape, updateAccountBody, type UpdateAccountBody } from './accounts.dto.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('account')
@Controller('account')
export class AccountsController {
  constructor(private readonly service: AccountsService) {}

  /** The account that the token belongs to. */
  @Get()
  @ApiOkResponse({ standardSchema: accountShape })
  get(@CurrentCaller() caller: Caller) {
    return this.service.get(caller);
  }

  /** Changes the account's name and rules. */
  @Put()
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: accountShape })
  update(@CurrentCaller() caller: Caller, @Body({ schema: updateAccountBody }) body: UpdateAccountBody) {
    return this.service.update(caller, body);
  }
}
