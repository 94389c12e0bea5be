import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { findEmail, readEmailFacts, type ReadEmailFacts } from '../../../../libs/db/email.queries.js';
import { isMailed, onTestClock, requeueEmail } from '../../../../libs/db/email.writes.js';
import { hostedInvoiceUrl } from '../../../../libs/db/invoice-page.js';
import { findInvoice } from '../../../../libs/db/invoice.queries.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { emails, type EmailRow } from '../../../../libs/db/schema/index.js';
import { findSubscription } from '../../../../libs/db/subscription.queries.js';
import { isMailAddress, notConfigured, type EmailKind } from '../../../../libs/domain/email/email.js';
import { emailModel } from '../../../../libs/email/email.model.js';
import { outdatedReason } from '../../../../libs/email/outdated.js';
import { renderEmail } from '../../../../libs/email/render.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { emailView } from '../../../../libs/views/email.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage } from '../kernel/lists.js';
import type { EmailsQuery, PreviewEmailBody } from './emails.dto.js';

@Injectable()
export class EmailsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  browse(caller: Caller, query: EmailsQuery) {
    const customerId = query.customer_id ? bodyId('customer_id', 'cus', query.customer_id, caller) : undefined;
    const where = [
      eq(emails.accountId, caller.accountId),
      ...equals(emails.customerId, customerId),
      ...equals(emails.status, query.status),
      ...equals(emails.kind, query.kind),
    ];
    return cursorPage(this.infrastructure.db, emails, query, { where, view: (row) => this.view(row) });
  }

  async get(caller: Caller, id: string) {
    return this.view(await this.find(caller, id));
  }

  async preview(caller: Caller, body: PreviewEmailBody) {
    const { db, config } = this.infrastructure;
    const at = new Date();
    const invoice = body.kind === 'trial_ending' ? null : await this.invoiceOf(caller, body);
    const subscription = body.kind === 'trial_ending' ? await this.subscriptionOf(caller, body) : null;
    const { customerId } = (invoice ?? subscription)!;
    const subscriptionId = subscription?.id ?? invoice?.subscriptionId ?? null;
    const facts = await readEmailFacts(db, { accountId: caller.accountId, customerId, invoiceId: invoice?.id ?? null, subscriptionId, told: null }, at);
    if (!facts) throw notFound('customer');
    const link = invoice && hostedInvoiceUrl(config, invoice);
    const reason = this.whyNot(facts, body.kind);
    const rendered = renderEmail(emailModel(facts, { kind: body.kind, link, at }));
    return { object: 'email_preview' as const, kind: body.kind, recipient: facts.recipient, ...rendered, would_send: reason === null, reason };
  }

  async resend(caller: Caller, id: string) {
    const { db, config } = this.infrastructure;
    const mail = await this.find(caller, id);
    const refusal = config.smtp ? null : notConfigured;
    return this.view(await transact(db, caller.change(), (tx) => requeueEmail(tx, caller.change(), { mail, id: caller.objectId(), refusal })));
  }

  private whyNot(facts: ReadEmailFacts, kind: EmailKind): string | null {
    const { settings, customer, recipient, invoice } = facts;
    if (!this.infrastructure.config.smtp) return notConfigured;
    if (customer.onTestClock) return onTestClock;
    if (!settings.enabledKinds.includes(kind)) return 'disabled: the account\'s email_settings leave this kind out.';
    if (kind === 'receipt' && !facts.wantsReceipts) return 'disabled: the customer has no email_receipt_on_paid.';
    if (kind === 'invoice' && invoice && !isMailed(invoice)) return 'disabled: the invoice is charged, and has no email_invoice_on_finalization.';
    return isMailAddress(recipient) ? outdatedReason(kind, facts) : 'The recipient is not a valid e-mail address.';
  }

  private async invoiceOf(caller: Caller, { invoice_id: id }: PreviewEmailBody) {
    if (!id) throw invalidField('invoice_id', 'is needed for this kind', 'missing');
    const row = await findInvoice(this.infrastructure.db, caller.accountId, bodyId('invoice_id', 'inv', id, caller));
    if (!row) throw invalidField('invoice_id', 'No such inv', 'unknown_reference');
    return row;
  }

  private async subscriptionOf(caller: Caller, { subscription_id: id }: PreviewEmailBody) {
    if (!id) throw invalidField('subscription_id', 'is needed for this kind', 'missing');
    const row = await findSubscription(this.infrastructure.db, caller.accountId, bodyId('subscription_id', 'sub', id, caller));
    if (!row) throw invalidField('subscription_id', 'No such sub', 'unknown_reference');
    return row;
  }

  private async find(caller: Caller, id: string): Promise<EmailRow> {
    const row = await findEmail(this.infrastructure.db, caller.accountId, pathId('email', id, caller));
    if (!row) throw notFound('e-mail');
    return row;
  }

  private view(row: EmailRow) {
    return emailView(row, this.infrastructure.environment);
  }
}
