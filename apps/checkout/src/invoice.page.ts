import type { FieldMessages } from '../../../libs/domain/payment-link/card-form.js';
import { cardFields, fieldOrder, lock, problemBox, type Notice } from './card-form.js';
import { html, type Html } from './html.js';
import { formatAmount } from './money.js';
import { renderPage, type Page } from './page.js';
import { monogram } from './pay.page.js';

export interface InvoiceLineModel {
  name: string;
  description: string | null;
  quantity: number;
  amountAtom: number;
  /** Null where it was sold at a moment. */
  period: { start: Date; end: Date } | null;
}

export interface InvoiceModel {
  number: number;
  sellerName: string;
  billedTo: string;
  currency: string;
  lines: readonly InvoiceLineModel[];
  totalAtom: number;
  appliedBalanceAtom: number;
  creditedAtom: number;
  dueAtom: number;
  remainingAtom: number;
  issuedAt: Date;
  dueDate: Date;
  paidAt: Date | null;
  description: string | null;
}

/** What the visitor can do about it. */
export type InvoiceStanding =
  | { kind: 'paid' }
  | { kind: 'void' }
  /** Cards cannot be entered here. */
  | { kind: 'no_cards' }
  | { kind: 'open'; form: InvoiceForm }
  /** The bank asked the payer to confirm an earlier try; another card may be used instead. */
  | { kind: 'challenge'; url: string; form: InvoiceForm | null };

export interface InvoiceForm {
  action: string;
  formTargets: readonly string[];
  tryNumber: number;
  overdue: boolean;
  /** The card can become the one that a subscription is paid with; null where there is none. */
  keep: { checked: boolean } | null;
  messages?: FieldMessages;
  notice?: Notice;
}

export interface InvoicePageModel {
  base: string;
  testMode: boolean;
  invoice: InvoiceModel;
  standing: InvoiceStanding;
  status?: number;
}

/** An invoice as its customer sees it: what it is for, how it stands, and how to pay it. */
export function renderInvoicePage({ base, testMode, invoice, standing, status }: InvoicePageModel): Page {
  const form = standing.kind === 'open' || standing.kind === 'challenge' ? standing.form : null;
  const troubled = form !== null && (form.notice !== undefined || Object.keys(form.messages ?? {}).length > 0);
  const content = html`
<div class="checkout">
${statement(invoice, standing)}
${aside(invoice, standing)}
</div>`;
  const title = `${troubled ? 'Error: ' : ''}Invoice ${invoice.number} of ${invoice.sellerName}`;
  return renderPage({ title, status: status ?? 200, content, base, testMode, formTargets: form?.formTargets ?? [] });
}

function statement(invoice: InvoiceModel, standing: InvoiceStanding): Html {
  const amount = (atoms: number) => formatAmount(atoms, invoice.currency);
  const credited = invoice.creditedAtom > 0;
  const owed = standing.kind !== 'paid' && standing.kind !== 'void';
  const head = owed ? 'To pay' : standing.kind === 'paid' ? (credited ? 'Credited' : 'Paid') : 'Cancelled';
  const sum = owed ? invoice.remainingAtom : credited ? invoice.creditedAtom : standing.kind === 'paid' ? invoice.dueAtom : invoice.totalAtom;
  return html`<section class="order" aria-labelledby="order-title">
<p class="merchant"><span class="monogram" aria-hidden="true">${monogram(invoice.sellerName)}</span>${invoice.sellerName}</p>
<h1 id="order-title"><span class="quiet">${head}</span> ${amount(sum)}</h1>
<dl class="facts">
<div><dt>Invoice</dt><dd>${invoice.number}</dd></div>
<div><dt>Billed to</dt><dd>${invoice.billedTo}</dd></div>
<div><dt>Date</dt><dd>${day(invoice.issuedAt)}</dd></div>
${owed && html`<div><dt>Due</dt><dd>${day(invoice.dueDate)}</dd></div>`}
</dl>
${invoice.description && html`<p class="quiet">${invoice.description}</p>`}
<ul class="lines">
${invoice.lines.map((line) => lineItem(line, amount))}
</ul>
<p class="total"><span>Total</span><span class="amount">${amount(invoice.totalAtom)}</span></p>
${invoice.appliedBalanceAtom > 0 && html`<p class="part"><span>Paid with your credit</span><span class="amount">${amount(-invoice.appliedBalanceAtom)}</span></p>`}
${owed && invoice.remainingAtom !== invoice.totalAtom && html`<p class="part"><span>To pay</span><span class="amount">${amount(invoice.remainingAtom)}</span></p>`}
</section>`;
}

function lineItem(line: InvoiceLineModel, amount: (atoms: number) => string): Html {
  const { name, description, quantity, amountAtom, period } = line;
  return html`<li><div><span class="item">${name}</span>${description && html`<span class="quiet">${description}</span>`}${period && html`<span class="quiet">${day(period.start)} – ${day(period.end)}</span>`}${quantity > 1 && html`<span class="quiet">Quantity ${quantity}</span>`}</div><span class="amount">${amount(amountAtom)}</span></li>`;
}

function aside(invoice: InvoiceModel, standing: InvoiceStanding): Html {
  switch (standing.kind) {
    case 'paid':
      return message('good', invoice.creditedAtom > 0 ? 'Nothing to pay' : 'This invoice is paid', paidWords(invoice));
    case 'void':
      return message('bad', 'This invoice was cancelled', html`<p>There is nothing to pay. Ask ${invoice.sellerName} if you expected otherwise.</p>`);
    case 'no_cards':
      return message('bad', 'Card payments are not set up', html`<p>${invoice.sellerName} cannot take cards on this page yet. You have not been charged.</p>`);
    case 'challenge':
      return html`<div>${message('wait', 'Confirm with your bank', html`<p>Your bank asks you to confirm this payment.</p>
<p><a class="button" href="${standing.url}">Continue to your bank</a></p>`)}
${standing.form && cardForm(invoice, standing.form, 'Or pay with another card')}</div>`;
    case 'open':
      return cardForm(invoice, standing.form, 'Pay by card');
  }
}

function paidWords({ paidAt, creditedAtom, currency }: InvoiceModel): Html {
  if (creditedAtom > 0) return html`<p>${formatAmount(creditedAtom, currency)} is kept as your credit and pays your next invoices.</p>`;
  return html`<p>Thank you.${paidAt && html` It was paid on ${day(paidAt)}.`}</p>`;
}

function message(mark: 'good' | 'wait' | 'bad', title: string, body: Html): Html {
  const sign = { good: '✓', wait: '…', bad: '!' }[mark];
  return html`<section class="card outcome" aria-labelledby="outcome-title">
<p class="sign ${mark}" aria-hidden="true">${sign}</p>
<h2 id="outcome-title">${title}</h2>
${body}
</section>`;
}

function cardForm(invoice: InvoiceModel, form: InvoiceForm, heading: string): Html {
  const total = formatAmount(invoice.remainingAtom, invoice.currency);
  const messages = form.messages ?? {};
  const wrong = fieldOrder.flatMap((name) => (messages[name] === undefined ? [] : [[name, messages[name]] as const]));
  return html`<section class="card" aria-labelledby="pay-title">
<h2 id="pay-title">${heading}</h2>
${form.overdue && html`<p class="quiet">This invoice is overdue.</p>`}
${problemBox(wrong, form.notice)}
<form method="post" action="${form.action}" novalidate data-pay>
<input type="hidden" name="try" value="${form.tryNumber}">
${cardFields(messages)}
${form.keep && html`<label class="choice"><input type="checkbox" name="keep" value="1"${form.keep.checked && html` checked`}> Use this card for my subscription from now on</label>`}
<button type="submit">${lock}<span data-busy="Paying ${total} …">Pay ${total}</span></button>
<p class="fine">You pay ${total} to ${invoice.sellerName}, once. Your card details go to the payment provider and are never stored here.</p>
</form>
</section>`;
}

const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

function day(at: Date): string {
  return days.format(at);
}
