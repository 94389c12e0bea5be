import { Injectable } from '@nestjs/common';
import { readHostedInvoice } from '../../../../libs/db/hosted-invoice.queries.js';
import { hostedInvoiceUrl, readInvoicePageToken } from '../../../../libs/db/invoice-page.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { publicInvoiceView } from '../../../../libs/views/public-invoice.view.js';
import { Infrastructure } from '../kernel/infrastructure.js';

@Injectable()
export class PublicInvoicesService {
  constructor(private readonly infrastructure: Infrastructure) {}

  /** @throws DomainError 404 */
  async get(token: string) {
    const { db, config, environment } = this.infrastructure;
    const id = readInvoicePageToken(token, config.tokenKey);
    const found = id ? await readHostedInvoice(db, id) : null;
    if (!found) throw notFound('invoice');
    const { invoice, lines, sellerName, customer, subscription, method } = found;
    const name = [customer.firstName, customer.lastName].filter(Boolean).join(' ') || null;
    return publicInvoiceView(invoice, {
      lines,
      sellerName,
      billedTo: { name, businessName: customer.businessName, address: { ...(customer.billingAddress ?? customer.address) } },
      card: invoice.status === 'paid' && !invoice.paidOutOfBand && method ? { brand: method.cardBrand, last4: method.lastFour } : null,
      trial: subscription && { start: subscription.trialStart, end: subscription.trialEnd },
      hostedUrl: hostedInvoiceUrl(config, invoice)!,
    }, environment);
  }
}
