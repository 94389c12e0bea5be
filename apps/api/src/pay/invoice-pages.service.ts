import { Injectable } from '@nestjs/common';
import { declineWords } from '../../../checkout/src/decline-words.js';
import { renderInvoicePage, type InvoiceForm, type InvoiceModel, type InvoiceStanding } from '../../../checkout/src/invoice.page.js';
import { renderReturnPage, renderTooManyPage, renderUnknownPage, renderWaitingPage } from '../../../checkout/src/outcome.page.js';
import type { Page } from '../../../checkout/src/page.js';
import { readHostedInvoice, type HostedInvoice } from '../../../../libs/db/hosted-invoice.queries.js';
import { readInvoicePageToken } from '../../../../libs/db/invoice-page.js';
import { readTries, type TryState } from '../../../../libs/db/payment-link-attempt.writes.js';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import { defaultDescription } from '../../../../libs/domain/invoice/invoice.finalisation.js';
import { moveInvoice } from '../../../../libs/domain/invoice/invoice.machine.js';
import { readPayForm, type PayForm } from '../../../../libs/domain/payment-link/card-form.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { isAcceptedCard, takesCardNumbers } from '../../../../libs/payments/accepted-card.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';
import { CardTriesService, type Attempted } from './card-tries.service.js';
import { InvoicePaymentsService, type InvoiceTry } from './invoice-payments.service.js';
import type { PayAnswer, Visit } from './page-answers.js';
import { underwayOf, type Underway } from './payment-standing.js';

export interface InvoiceSubmission extends PayForm {
  try: string;
  keep: boolean;
}

/** An invoice that its page shows, and how its payment stands. */
interface Shown {
  token: string;
  hosted: HostedInvoice;
  tries: TryState;
  standing: { kind: 'closed' | 'open' } | Underway;
}

type FormDetails = Pick<InvoiceForm, 'messages' | 'notice'> & { keep?: boolean; status?: number };

/** What a visitor of `/pay/invoices/{token}` sees. */
@Injectable()
export class InvoicePagesService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
    private readonly invoicePayments: InvoicePaymentsService,
    private readonly tries: CardTriesService,
  ) {}

  async show(token: string, { returned }: { returned: boolean }): Promise<PayAnswer> {
    const shown = await this.open(token);
    if (!shown) return { page: this.unknownPage() };
    const { standing } = shown;
    const waits = standing.kind === 'waiting' ? standing.long : standing.kind === 'challenge' && returned ? false : null;
    if (waits !== null) return { page: renderWaitingPage({ ...this.common, statusUrl: this.path(token), long: waits }) };
    return { page: this.page(shown, {}) };
  }

  async submit(token: string, sent: InvoiceSubmission, visit: Visit): Promise<PayAnswer> {
    const shown = await this.open(token);
    if (!shown) return { page: this.unknownPage() };
    const { hosted, tries, standing } = shown;
    const takes = standing.kind === 'open' || standing.kind === 'challenge';
    if (!takes || sent.try !== String(tries.next) || !takesCardNumbers(this.payments.deps)) return { redirect: this.path(token) };
    const reading = readPayForm(sent, { asksPayer: false, now: new Date() });
    if (!reading.ok) return { page: this.page(shown, { messages: reading.messages, keep: sent.keep, status: 422 }) };
    if (!isAcceptedCard(reading.card.number)) {
      const messages = { number: 'This is the test environment: use a test card, for example 4242 4242 4242 4242.' };
      return { page: this.page(shown, { messages, keep: sent.keep, status: 422 }) };
    }
    const { address, requestId } = visit;
    const result = await this.attempt({ hosted, tryNumber: tries.next, card: reading.card, keep: sent.keep, address, requestId });
    return this.answer(shown, result, { keep: sent.keep });
  }

  /** After a challenge: knows the payment from the address, and the visitor from the cookie. */
  async comeBack(intent: PaymentIntentRow, visit: Visit): Promise<PayAnswer> {
    const token = visit.cookies.get(cookieName(intent.invoiceId!));
    if (token !== undefined && readInvoicePageToken(token, this.infrastructure.config.tokenKey) === intent.invoiceId) {
      await this.tries.comeBack(intent, visit.requestId);
      return { redirect: `${this.path(token)}?returned=1` };
    }
    const paid = intent.status === 'succeeded' || intent.status === 'requires_capture';
    const open = intent.status === 'requires_payment_method' || intent.status === 'canceled';
    return { page: renderReturnPage({ ...this.common, state: paid ? 'paid' : open ? 'open' : 'waiting' }) };
  }

  /** A connection that is missing or silent is a try that failed, not an error of the visitor's. */
  private async attempt(wish: InvoiceTry): Promise<Attempted> {
    try {
      return await this.invoicePayments.pay(wish);
    } catch (error) {
      const silent = error instanceof DomainError && (error.code === 'conflict' || error.code === 'processor_unavailable');
      if (!silent) throw error;
      return { kind: 'declined', code: 'no_processor_available' };
    }
  }

  private async answer({ token, hosted }: Shown, result: Attempted, { keep }: { keep: boolean }): Promise<PayAnswer> {
    const cookie = { name: cookieName(hosted.invoice.id), value: token };
    if (result.kind === 'limited') return { page: renderTooManyPage({ ...this.common, retryAfterSeconds: result.retryAfterSeconds, backUrl: this.path(token) }) };
    const now = (await this.open(token))!;
    if (result.kind === 'declined' && now.standing.kind === 'open') return { page: this.page(now, { notice: declineWords(result.code), keep, status: 402 }) };
    const { standing } = now;
    if (standing.kind === 'challenge' && this.formTargets().includes(new URL(standing.url).origin)) return { redirect: standing.url, cookie };
    return { redirect: this.path(token), cookie };
  }

  private async open(token: string): Promise<Shown | null> {
    const { db, config } = this.infrastructure;
    const id = readInvoicePageToken(token, config.tokenKey);
    const hosted = id === null ? null : await readHostedInvoice(db, id);
    if (!hosted) return null;
    const tries = await readTries(db, this.invoicePayments.intentIdOf(hosted));
    return { token, hosted, tries, standing: standingOf(hosted, tries) };
  }

  private page(shown: Shown, { status, ...details }: FormDetails): Page {
    return renderInvoicePage({ ...this.common, invoice: modelOf(shown.hosted), standing: this.standing(shown, details), status });
  }

  private standing({ token, hosted, tries, standing }: Shown, details: FormDetails): InvoiceStanding {
    const { invoice, subscription, intent } = hosted;
    if (standing.kind === 'closed') return { kind: invoice.status === 'void' ? 'void' : 'paid' };
    const cards = takesCardNumbers(this.payments.deps);
    const declined = intent?.status === 'requires_payment_method' && intent.declineCode !== null && !details.messages;
    const form: InvoiceForm = {
      action: this.path(token),
      formTargets: this.formTargets(),
      tryNumber: tries.next,
      overdue: invoice.status !== 'open',
      keep: subscription && subscription.status !== 'cancelled' ? { checked: details.keep ?? false } : null,
      messages: details.messages,
      notice: details.notice ?? (declined ? declineWords(intent.declineCode) : undefined),
    };
    if (standing.kind === 'challenge') return { kind: 'challenge', url: standing.url, form: cards ? form : null };
    return cards ? { kind: 'open', form } : { kind: 'no_cards' };
  }

  /** Browsers follow a sent form only to where its page's policy says. */
  private formTargets(): string[] {
    const { simulatorUrl } = this.infrastructure.config;
    return simulatorUrl === null ? [] : [new URL(simulatorUrl).origin];
  }

  private unknownPage(): Page {
    return renderUnknownPage({ ...this.common, what: 'invoice' });
  }

  private get common(): { base: string; testMode: boolean } {
    const { config, environment } = this.infrastructure;
    return { base: `${new URL(config.publicUrl).pathname.replace(/\/+$/, '')}/pay`, testMode: environment === 'staging' };
  }

  private path(token: string): string {
    return `${this.common.base}/invoices/${token}`;
  }
}

function standingOf({ invoice, intent }: HostedInvoice, tries: TryState): Shown['standing'] {
  if (!moveInvoice(invoice.status, 'pay')) return { kind: 'closed' };
  return underwayOf(intent, tries) ?? { kind: 'open' };
}

function modelOf({ invoice, lines, customer, sellerName }: HostedInvoice): InvoiceModel {
  return {
    number: invoice.number ?? 0,
    sellerName,
    billedTo: customer.businessName ?? ([customer.firstName, customer.lastName].filter(Boolean).join(' ') || customer.email),
    currency: invoice.currency,
    lines: lines.map(({ name, description, quantity, amountAtom, periodStart, periodEnd }) => ({
      name, description, quantity, amountAtom, period: periodEnd > periodStart ? { start: periodStart, end: periodEnd } : null,
    })),
    totalAtom: invoice.totalAtom,
    appliedBalanceAtom: invoice.appliedBalanceAtom,
    creditedAtom: invoice.creditedAtom,
    dueAtom: invoice.dueAtom,
    remainingAtom: invoice.dueAtom - invoice.paidAtom,
    issuedAt: invoice.finalizedAt!,
    dueDate: invoice.dueDate,
    paidAt: invoice.paidAt,
    description: invoice.description === defaultDescription ? null : invoice.description,
  };
}

function cookieName(invoiceId: string): string {
  return `invoice_${invoiceId.replaceAll('-', '')}`;
}
