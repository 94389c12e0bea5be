import { Injectable } from '@nestjs/common';
import { eq, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { disputedCharges, disputeOf, intentIdByTheirs } from '../../../../libs/db/dispute.queries.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { intentOf } from '../../../../libs/db/payment.queries.js';
import { disputes, type DisputeRow } from '../../../../libs/db/schema/index.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { reportDispute } from '../../../../libs/payments/report-dispute.js';
import { disputeView, type DisputeView } from '../../../../libs/views/dispute.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import type { CreateDisputeBody, DisputesQuery, ListDisputesBody } from './disputes.dto.js';

@Injectable()
export class DisputesService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateDisputeBody): Promise<DisputeView> {
    const intentId = await this.disputedIntent(caller, body);
    const change = caller.change();
    const report = { id: caller.objectId(), intentId, theirDisputeId: body.their_dispute_id, reason: body.reason, metadata: body.meta };
    const { dispute, charge } = await transact(this.infrastructure.db, change, (tx) => reportDispute(tx, change, report));
    return disputeView(dispute, charge, caller.environment);
  }

  async get(caller: Caller, id: string): Promise<DisputeView> {
    const disputeId = pathId('dp', id, caller);
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await disputeOf(db, caller.accountId, disputeId);
      if (!row) throw notFound('dispute');
      return (await this.views(db, [row]))[0]!;
    });
  }

  async list(caller: Caller, body: ListDisputesBody) {
    return composedList(this.infrastructure.db, disputes, body, { where: this.conditions(caller, body), views: (db, rows) => this.views(db, rows) });
  }

  async page(caller: Caller, query: DisputesQuery) {
    return composedPage(this.infrastructure.db, disputes, query, { where: this.conditions(caller, query), views: (db, rows) => this.views(db, rows) });
  }

  private async views(db: Db, rows: DisputeRow[]): Promise<DisputeView[]> {
    const charges = await disputedCharges(db, [...new Set(rows.map((row) => row.chargeId))]);
    return rows.map((row) => disputeView(row, charges.get(row.chargeId)!, this.infrastructure.environment));
  }

  private async disputedIntent(caller: Caller, body: CreateDisputeBody): Promise<string> {
    const { db } = this.infrastructure;
    const theirs = body.their_payment_intent_id ? await intentIdByTheirs(db, caller.accountId, body.their_payment_intent_id) : null;
    if (body.their_payment_intent_id && !theirs) throw invalidField('their_payment_intent_id', 'No such payment', 'unknown_reference');
    if (!body.payment_intent_id) {
      if (!theirs) throw invalidField('payment_intent_id', 'name a payment intent or the processor\'s id of one', 'missing');
      return theirs;
    }
    const intent = await intentOf(db, caller.accountId, bodyId('payment_intent_id', 'pi', body.payment_intent_id, caller));
    if (!intent) throw unknownReference('payment_intent_id', 'pi');
    if (theirs && theirs !== intent.id) throw invalidField('their_payment_intent_id', 'this is another payment');
    return intent.id;
  }

  private conditions(caller: Caller, filter: Partial<ListDisputesBody>): (SQL | undefined)[] {
    const id = (field: string, kind: 'ch' | 'cus' | 'pi', value: string | null | undefined) => (value ? bodyId(field, kind, value, caller) : undefined);
    return [
      eq(disputes.accountId, caller.accountId),
      ...equals(disputes.chargeId, id('charge_id', 'ch', filter.charge_id)),
      ...equals(disputes.customerId, id('customer_id', 'cus', filter.customer_id)),
      ...equals(disputes.paymentIntentId, id('payment_intent_id', 'pi', filter.payment_intent_id)),
      ...equals(disputes.status, filter.status),
    ];
  }
}
