import { Injectable } from '@nestjs/common';
import { findAccount } from '../../../../libs/db/account.queries.js';
import { updateAccount, type AccountPatch } from '../../../../libs/db/account.writes.js';
import { transact } from '../../../../libs/db/change.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { accountView } from '../../../../libs/views/account.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import type { UpdateAccountBody } from './accounts.dto.js';
import { readDunningPolicy, readEmailSettings } from './policies.dto.js';

@Injectable()
export class AccountsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async get(caller: Caller) {
    const row = await findAccount(this.infrastructure.db, caller.accountId);
    if (!row) throw notFound('account');
    return accountView(row, this.infrastructure.environment);
  }

  async update(caller: Caller, body: UpdateAccountBody) {
    const route = body.default_payment_route_id;
    const patch: AccountPatch = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.operator_refund_limit_atom === undefined ? {} : { operatorRefundLimitAtom: body.operator_refund_limit_atom }),
      ...(route === undefined ? {} : { defaultPaymentRouteId: route && bodyId('default_payment_route_id', 'route', route, caller) }),
      ...(body.execution === undefined ? {} : { execution: body.execution }),
      ...settingsOf(body),
    };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => updateAccount(tx, caller.change(), patch));
    return accountView(row, this.infrastructure.environment);
  }
}

function settingsOf({ dunning_policy: dunning, email_settings: email, billing_settings: billing }: UpdateAccountBody): AccountPatch {
  return {
    ...(dunning === undefined ? {} : { dunningPolicy: dunning && readDunningPolicy(dunning) }),
    ...(email === undefined ? {} : { emailSettings: email && readEmailSettings(email) }),
    ...(billing === undefined ? {} : { billingSettings: billing && { invoiceUpcomingDays: billing.invoice_upcoming_days } }),
  };
}
