import { Injectable } from '@nestjs/common';
import { declineWords } from '../../../checkout/src/decline-words.js';
import { renderChallengePage, renderInactivePage, renderReturnPage, renderTooManyPage, renderUnknownPage } from '../../../checkout/src/outcome.page.js';
import { hashLinkToken, isLinkToken, openLinkToken } from '../../../../libs/db/payment-link-token.js';
import { findPaymentLink, findPaymentLinkByToken, readLinkOffer } from '../../../../libs/db/payment-link.queries.js';
import { intentById } from '../../../../libs/db/payment.queries.js';
import type { PaymentLinkRow } from '../../../../libs/db/schema/index.js';
import { readPayForm, type PayForm } from '../../../../libs/domain/payment-link/card-form.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { isAcceptedCard } from '../../../../libs/payments/accepted-card.js';
import { parsePublicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { CardTriesService } from './card-tries.service.js';
import { mintForm, readForm, type Form } from './form-tokens.js';
import { InvoicePagesService } from './invoice-pages.service.js';
import { LinkPaymentsService, type LinkPaymentResult, type Standing } from './link-payments.service.js';
import type { Cookie, PayAnswer, Visit } from './page-answers.js';
import { PayPagesService, type Opened } from './pay-pages.service.js';

export interface Submission extends PayForm {
  form: string;
  try: string;
}

/** What a visitor of `/pay/{token}` sees. */
@Injectable()
export class PayService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly pages: PayPagesService,
    private readonly linkPayments: LinkPaymentsService,
    private readonly tries: CardTriesService,
    private readonly invoicePages: InvoicePagesService,
  ) {}

  /** The form, or how the payment of the form stands that this browser had opened before. */
  async show(token: string, visit: Visit, { fresh }: { fresh: boolean }): Promise<PayAnswer> {
    const link = await this.find(token);
    if (!link) return { page: renderUnknownPage(this.pages.common) };
    if (fresh) return { redirect: this.pages.path(token), cookie: this.cookieOf(link, mintForm(link.id, this.key)) };
    const known = this.formOf(link, visit.cookies.get(cookieName(link)));
    const form = known ?? mintForm(link.id, this.key);
    const standing = known ? await this.linkPayments.standing(link, known.id) : ({ kind: 'open', nextTry: 0, intent: null } satisfies Standing);
    const offer = await readLinkOffer(this.infrastructure.db, link);
    if (standing.kind === 'paid') return { page: this.pages.paidPage({ link, token, offer, form }, standing) };
    if (standing.kind === 'waiting') return { redirect: this.pages.path(token, form) };
    if (standing.kind === 'challenge') return { page: renderChallengePage({ ...this.pages.common, challengeUrl: standing.url }) };
    const unusable = standing.kind === 'over' || (form.isOld && !standing.intent);
    const current = unusable ? mintForm(link.id, this.key) : form;
    const open = standing.kind === 'open' && !unusable ? standing : ({ kind: 'open', nextTry: 0, intent: null } satisfies Standing);
    return { page: this.pages.formPage({ link, token, offer, form: current }, open), cookie: this.cookieOf(link, current) };
  }

  /** Where a form's payment stands, at an address of its own; leaves for the seller's page once it is paid. */
  async status(token: string, formToken: string, { returned }: { returned: boolean }): Promise<PayAnswer> {
    const link = await this.find(token);
    const form = link && this.formOf(link, formToken);
    if (!link || !form) return { page: renderUnknownPage(this.pages.common) };
    const standing = await this.linkPayments.standing(link, form.id);
    const opened = async (): Promise<Opened> => ({ link, token, form, offer: await readLinkOffer(this.infrastructure.db, link) });
    switch (standing.kind) {
      case 'paid':
        return link.successUrl ? { redirect: link.successUrl } : { page: this.pages.paidPage(await opened(), standing) };
      case 'waiting':
        return { page: this.pages.waitingPage(token, form, { long: standing.long, returned }) };
      case 'challenge':
        if (returned) return { page: this.pages.waitingPage(token, form, { long: false, returned }) };
        return { page: renderChallengePage({ ...this.pages.common, challengeUrl: standing.url }) };
      case 'over':
        return { redirect: `${this.pages.path(token)}?new=1` };
      case 'open':
        return { page: this.pages.formPage(await opened(), standing), cookie: this.cookieOf(link, form) };
    }
  }

  async submit(token: string, sent: Submission, visit: Visit): Promise<PayAnswer> {
    const link = await this.find(token);
    if (!link) return { page: renderUnknownPage(this.pages.common) };
    const form = this.formOf(link, sent.form);
    if (!form) return this.formAgain(link, token);
    const standing = await this.linkPayments.standing(link, form.id);
    if (standing.kind !== 'open') return this.after(link, token, form);
    if (form.isOld && !standing.intent) return this.formAgain(link, token);
    const offer = await readLinkOffer(this.infrastructure.db, link);
    if (sent.try !== String(standing.nextTry)) return { redirect: this.pages.path(token, form) };
    return this.submitOpen({ link, token, offer, form }, standing, { sent, visit });
  }

  /** After a challenge: knows the payment from the address, and the visitor from the cookie. */
  async comeBack(paymentId: string, visit: Visit): Promise<PayAnswer> {
    const { db, environment } = this.infrastructure;
    const id = parsePublicId('pi', environment, paymentId);
    const intent = id === null ? null : await intentById(db, id);
    if (intent?.invoiceId) return this.invoicePages.comeBack(intent, visit);
    if (!intent?.paymentLinkId) return { page: renderUnknownPage(this.pages.common) };
    const cookie = visit.cookies.get(cookieName({ id: intent.paymentLinkId }));
    const form = readForm(intent.paymentLinkId, cookie, { key: this.key, now: new Date() });
    if (form?.id === intent.id) {
      await this.tries.comeBack(intent, visit.requestId);
      const link = await findPaymentLink(db, intent.accountId, intent.paymentLinkId);
      if (link) return { redirect: `${this.pages.path(openLinkToken(this.infrastructure.secrets, link), form)}?returned=1` };
    }
    const paid = intent.status === 'succeeded' || intent.status === 'requires_capture';
    const open = intent.status === 'requires_payment_method' || intent.status === 'canceled';
    return { page: renderReturnPage({ ...this.pages.common, state: paid ? 'paid' : open ? 'open' : 'waiting' }) };
  }

  private async submitOpen(opened: Opened, standing: Extract<Standing, { kind: 'open' }>, { sent, visit }: { sent: Submission; visit: Visit }): Promise<PayAnswer> {
    const { link, offer, form } = opened;
    const unavailable = this.pages.unavailable(opened);
    if (unavailable) return { page: unavailable };
    const typed = { email: sent.email, name: sent.name };
    const asksPayer = this.pages.asksPayer(link, standing);
    const reading = readPayForm(sent, { asksPayer, now: new Date() });
    if (!reading.ok) return { page: this.pages.formPage(opened, standing, { messages: reading.messages, typed, status: 422 }) };
    if (!isAcceptedCard(reading.card.number)) {
      const messages = { number: 'This is the test environment: use a test card, for example 4242 4242 4242 4242.' };
      return { page: this.pages.formPage(opened, standing, { messages, typed, status: 422 }) };
    }
    const result = await this.attempt({
      link, amountAtom: offer.amountAtom!, formId: form.id, tryNumber: standing.nextTry, card: reading.card, payer: reading.payer,
      address: visit.address, requestId: visit.requestId,
    });
    return this.answer(opened, result, typed);
  }

  /** A connection that is missing or silent is a try that failed, not an error of the visitor's. */
  private async attempt(payment: Parameters<LinkPaymentsService['pay']>[0]): Promise<LinkPaymentResult> {
    try {
      return await this.linkPayments.pay(payment);
    } catch (error) {
      const silent = error instanceof DomainError && (error.code === 'conflict' || error.code === 'processor_unavailable');
      if (!silent) throw error;
      return { kind: 'declined', code: 'no_processor_available' };
    }
  }

  private async answer(opened: Opened, result: LinkPaymentResult, typed: { email: string; name: string }): Promise<PayAnswer> {
    const { link, token, form } = opened;
    switch (result.kind) {
      case 'sent':
        return this.after(link, token, form);
      case 'repeated':
        return { redirect: this.pages.path(token, form) };
      case 'limited':
        return { page: renderTooManyPage({ ...this.pages.common, retryAfterSeconds: result.retryAfterSeconds, backUrl: this.pages.path(token) }) };
      case 'paused':
        return { page: renderInactivePage({ ...this.pages.common, accountName: opened.offer.accountName }) };
      case 'declined': {
        const standing = await this.linkPayments.standing(link, form.id);
        if (standing.kind !== 'open') return this.after(link, token, form);
        return { page: this.pages.formPage(opened, standing, { notice: declineWords(result.code), typed, status: 402 }), cookie: this.cookieOf(link, form) };
      }
    }
  }

  /** Where the browser goes once the form's payment is on its way or done. */
  private async after(link: PaymentLinkRow, token: string, form: Form): Promise<PayAnswer> {
    const standing = await this.linkPayments.standing(link, form.id);
    const cookie = this.cookieOf(link, form);
    if (standing.kind === 'paid' && link.successUrl) return { redirect: link.successUrl, cookie };
    if (standing.kind === 'challenge' && this.pages.formTargets(link).includes(new URL(standing.url).origin)) return { redirect: standing.url, cookie };
    return { redirect: this.pages.path(token, form), cookie };
  }

  private async formAgain(link: PaymentLinkRow, token: string): Promise<PayAnswer> {
    const form = mintForm(link.id, this.key);
    const offer = await readLinkOffer(this.infrastructure.db, link);
    const notice = { title: 'This page was open for too long', text: 'Check the details and enter your card again.' };
    const standing = { kind: 'open', nextTry: 0, intent: null } as const;
    return { page: this.pages.formPage({ link, token, offer, form }, standing, { notice, status: 422 }), cookie: this.cookieOf(link, form) };
  }

  private async find(token: string): Promise<PaymentLinkRow | null> {
    return isLinkToken(token) ? findPaymentLinkByToken(this.infrastructure.db, hashLinkToken(token, this.key)) : null;
  }

  private formOf(link: PaymentLinkRow, token: string | undefined): Form | null {
    return readForm(link.id, token, { key: this.key, now: new Date() });
  }

  private get key(): Buffer {
    return this.infrastructure.config.tokenKey;
  }

  private cookieOf(link: PaymentLinkRow, form: Form): Cookie {
    return { name: cookieName(link), value: form.token };
  }
}

function cookieName({ id }: { id: string }): string {
  return `pay_${id.replaceAll('-', '')}`;
}
