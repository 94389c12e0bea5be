import { Injectable } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import { balanceEntries, findBalanceEntry } from '../../../../libs/db/customer-balance.queries.js';
import { adjustBalance } from '../../../../libs/db/customer-balance.writes.js';
import { findCustomer } from '../../../../libs/db/customer.queries.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { customerBalanceTransactionView } from '../../../../libs/views/customer-balance-transaction.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import type { CreateBalanceTransactionBody } from './balance-transactions.dto.js';

@Injectable()
export class BalanceTransactionsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, customerId: string, body: CreateBalanceTransactionBody) {
    const wish = {
      id: caller.objectId(),
      customerId: pathId('cus', customerId, caller),
      currency: body.currency,
      amountAtom: body.amount_atom,
      description: body.description ?? null,
    };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => adjustBalance(tx, caller.change(), wish));
    return customerBalanceTransactionView(row, caller.environment);
  }

  async list(caller: Caller, customerId: string) {
    const rows = await balanceEntries(this.infrastructure.db, caller.accountId, await this.ownCustomer(caller, customerId));
    return rows.map((row) => customerBalanceTransactionView(row, caller.environment));
  }

  async get(caller: Caller, customerId: string, id: string) {
    const place = { customerId: await this.ownCustomer(caller, customerId), id: pathId('cbt', id, caller) };
    const row = await findBalanceEntry(this.infrastructure.db, caller.accountId, place);
    if (!row) throw notFound('balance transaction');
    return customerBalanceTransactionView(row, caller.environment);
  }

  private async ownCustomer(caller: Caller, id: string): Promise<string> {
    const customer = await findCustomer(this.infrastructure.db, caller.accountId, pathId('cus', id, caller));
    if (!customer) throw notFound('customer');
    return customer.id;
  }
}
