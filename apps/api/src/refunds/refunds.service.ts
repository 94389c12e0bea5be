import { Injectable } from '@nestjs/common';
import { eq, type SQL } from 'drizzle-orm';
import { findAccount } from '../../../../libs/db/account.queries.js';
import { transact } from '../../../../libs/db/change.js';
import { equals, inRange } from '../../../../libs/db/list.queries.js';
import { chargeOf, chargesOfIntent, intentOf, refundOf } from '../../../../libs/db/payment.queries.js';
import { refunds, type ChargeRow } from '../../../../libs/db/schema/index.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { refundCharge } from '../../../../libs/payments/refund-charge.js';
import { refundView } from '../../../../libs/views/refund.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import { SettlementsService } from '../payment-intents/settlements.service.js';
import type { CreateRefundBody, ListRefundsBody, RefundsQuery } from './refunds.dto.js';

@Injectable()
export class RefundsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly settlements: SettlementsService,
  ) {}

  async create(caller: Caller, body: CreateRefundBody) {
    const { db } = this.infrastructure;
    const charge = await this.chargeToRefund(caller, body);
    if (body.currency && body.currency !== charge.currency) throw invalidField('currency', `the charge is in ${charge.currency}`);
    await this.checkLimit(caller, body.amount_atom ?? charge.capturedAtom - charge.refundedAtom);
    const change = caller.change();
    const wish = {
      id: caller.objectId(),
      intentId: charge.paymentIntentId,
      chargeId: charge.id,
      amountAtom: body.amount_atom ?? null,
      reason: body.reason ?? 'manual',
      description: body.description ?? 'Refunded through the API.',
      outOfBand: body.refunded_out_of_band,
    };
    const refund = await transact(db, change, (tx) => refundCharge(tx, change, wish));
    if (refund.status !== 'pending') return refundView(refund, caller.environment);
    const intent = await intentOf(db, caller.accountId, refund.paymentIntentId);
    await this.settlements.settle(intent!, change);
    const now = (await refundOf(db, caller.accountId, refund.id))!;
    if (now.status === 'pending') caller.leaveOpen();
    return refundView(now, caller.environment);
  }

  async get(caller: Caller, id: string) {
    const row = await refundOf(this.infrastructure.db, caller.accountId, pathId('re', id, caller));
    if (!row) throw notFound('refund');
    return refundView(row, caller.environment);
  }

  async list(caller: Caller, body: ListRefundsBody) {
    return listPage(this.infrastructure.db, refunds, body, {
      where: [...this.conditions(caller, body), ...inRange(refunds.amountAtom, body.amount_atom)],
      sorts: { amount_atom: refunds.amountAtom },
      view: (row) => refundView(row, caller.environment),
    });
  }

  async page(caller: Caller, query: RefundsQuery) {
    return cursorPage(this.infrastructure.db, refunds, query, {
      where: this.conditions(caller, query),
      view: (row) => refundView(row, caller.environment),
    });
  }

  private async chargeToRefund(caller: Caller, body: CreateRefundBody): Promise<ChargeRow> {
    const { db } = this.infrastructure;
    if (body.charge_id) {
      const charge = await chargeOf(db, caller.accountId, bodyId('charge_id', 'ch', body.charge_id, caller));
      if (!charge) throw unknownReference('charge_id', 'ch');
      if (body.payment_intent_id && bodyId('payment_intent_id', 'pi', body.payment_intent_id, caller) !== charge.paymentIntentId) {
        throw invalidField('payment_intent_id', 'the charge belongs to another payment intent');
      }
      return charge;
    }
    if (!body.payment_intent_id) throw invalidField('charge_id', 'name a charge or a payment intent', 'missing');
    const intent = await intentOf(db, caller.accountId, bodyId('payment_intent_id', 'pi', body.payment_intent_id, caller));
    if (!intent) throw unknownReference('payment_intent_id', 'pi');
    const paid = (await chargesOfIntent(db, intent.id)).find((charge) => charge.status === 'succeeded' && !charge.isLate && charge.capturedAtom > 0);
    if (!paid) throw new DomainError('conflict', `The payment intent is ${intent.status}: nothing was captured, so nothing can be refunded.`);
    return paid;
  }

  private async checkLimit(caller: Caller, amountAtom: number): Promise<void> {
    if (caller.role === 'ADMIN') return;
    const account = await findAccount(this.infrastructure.db, caller.accountId);
    const limit = account?.operatorRefundLimitAtom ?? null;
    if (limit !== null && amountAtom > limit) throw new DomainError('role_too_small', `An OPERATOR may refund at most ${limit} atoms at once.`);
  }

  private conditions(caller: Caller, filter: Partial<ListRefundsBody>): (SQL | undefined)[] {
    const id = (field: string, kind: 'ch' | 'cus' | 'pi', value: string | null | undefined) => (value ? bodyId(field, kind, value, caller) : undefined);
    return [
      eq(refunds.accountId, caller.accountId),
      ...equals(refunds.chargeId, id('charge_id', 'ch', filter.charge_id)),
      ...equals(refunds.customerId, id('customer_id', 'cus', filter.customer_id)),
      ...equals(refunds.paymentIntentId, id('payment_intent_id', 'pi', filter.payment_intent_id)),
      ...equals(refunds.reason, filter.reason),
      ...equals(refunds.status, filter.status),
    ];
  }
}
