import { Injectable } from '@nestjs/common';
import { declineWords } from '../../../checkout/src/decline-words.js';
import { renderInactivePage, renderNoCardsPage, renderPaidPage, renderWaitingPage } from '../../../checkout/src/outcome.page.js';
import type { Page } from '../../../checkout/src/page.js';
import { renderPayPage, type Offer, type PayPageModel } from '../../../checkout/src/pay.page.js';
import type { LinkOffer } from '../../../../libs/db/payment-link.queries.js';
import type { PaymentLinkRow } from '../../../../libs/db/schema/index.js';
import { takesCardNumbers } from '../../../../libs/payments/accepted-card.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';
import type { Form } from './form-tokens.js';
import type { Standing } from './link-payments.service.js';

/** A link that a browser has opened with a form of its own. */
export interface Opened {
  link: PaymentLinkRow;
  token: string;
  offer: LinkOffer;
  form: Form;
}

export type FormDetails = Pick<PayPageModel, 'notice' | 'messages' | 'typed' | 'status'>;

/** The pages of a payment link, by how its payment stands. */
@Injectable()
export class PayPagesService {
  readonly common: { base: string; testMode: boolean };

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {
    const base = `${new URL(infrastructure.config.publicUrl).pathname.replace(/\/+$/, '')}/pay`;
    this.common = { base, testMode: infrastructure.environment === 'staging' };
  }

  path(token: string, form?: Form): string {
    return form ? `${this.common.base}/${token}/payment/${form.token}` : `${this.common.base}/${token}`;
  }

  formPage(opened: Opened, standing: Extract<Standing, { kind: 'open' }>, details: FormDetails = {}): Page {
    const { link, token, offer, form } = opened;
    const unavailable = this.unavailable(opened);
    if (unavailable && !details.notice) return unavailable;
    const declineCode = standing.intent?.declineCode ?? null;
    return renderPayPage({
      ...this.common,
      offer: this.offerOf(link, offer),
      action: this.path(token),
      formTargets: this.formTargets(link),
      formToken: form.token,
      tryNumber: standing.nextTry,
      asksPayer: this.asksPayer(link, standing),
      ...(declineCode !== null && !details.messages ? { notice: declineWords(declineCode) } : {}),
      ...details,
    });
  }

  unavailable({ link, offer }: Opened): Page | null {
    if (!link.active || offer.amountAtom === null) return renderInactivePage({ ...this.common, accountName: offer.accountName });
    if (!takesCardNumbers(this.payments.deps)) return renderNoCardsPage({ ...this.common, offer: this.offerOf(link, offer) });
    return null;
  }

  paidPage({ link, token, offer }: Opened, { intent }: Extract<Standing, { kind: 'paid' }>): Page {
    return renderPaidPage({
      ...this.common,
      accountName: offer.accountName,
      amountAtom: intent.amountAtom,
      currency: intent.currency,
      reference: publicId('pi', this.infrastructure.environment, intent.id),
      continueUrl: link.successUrl,
      againUrl: link.active ? `${this.path(token)}?new=1` : null,
    });
  }

  waitingPage(token: string, form: Form, { long, returned }: { long: boolean; returned: boolean }): Page {
    return renderWaitingPage({ ...this.common, statusUrl: `${this.path(token, form)}${returned ? '?returned=1' : ''}`, long });
  }

  private offerOf(link: PaymentLinkRow, offer: LinkOffer): Offer {
    const lines = offer.lines.map(({ item, name, unitAmountAtom, amountAtom }) =>
      ({ name, description: item.description, quantity: item.quantity, unitAmountAtom, amountAtom }));
    return { accountName: offer.accountName, currency: link.currency!, amountAtom: offer.amountAtom ?? 0, lines };
  }

  asksPayer(link: PaymentLinkRow, standing: Extract<Standing, { kind: 'open' }>): boolean {
    return link.customerId === null && !standing.intent?.customerId;
  }

  /** Browsers follow a sent form only to where its page's policy says. */
  formTargets(link: PaymentLinkRow): string[] {
    const { simulatorUrl } = this.infrastructure.config;
    const targets = [link.successUrl, simulatorUrl].filter((url) => url !== null).map((url) => new URL(url).origin);
    return [...new Set(targets)];
  }
}
