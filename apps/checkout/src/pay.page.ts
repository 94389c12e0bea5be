import type { FieldMessages } from '../../../libs/domain/payment-link/card-form.js';
import { cardFields, field, fieldOrder, lock, problemBox, type Notice } from './card-form.js';
import { html, type Html } from './html.js';
import { formatAmount } from './money.js';
import { renderPage, type Page } from './page.js';

export interface OfferLine {
  name: string;
  description: string | null;
  quantity: number;
  unitAmountAtom: number;
  amountAtom: number;
}

export interface Offer {
  accountName: string;
  currency: string;
  amountAtom: number;
  lines: readonly OfferLine[];
}

export interface PayPageModel {
  base: string;
  testMode: boolean;
  offer: Offer;
  /** The path that the form is sent to. */
  action: string;
  formTargets: readonly string[];
  /** Names this form's one payment. */
  formToken: string;
  tryNumber: number;
  /** False where the link names its customer. */
  asksPayer: boolean;
  /** What was typed before; card data never come back. */
  typed?: { email: string; name: string };
  messages?: FieldMessages;
  /** Why an earlier try did not go through. */
  notice?: Notice;
  status?: number;
}

/** The form of a payment link. */
export function renderPayPage(model: PayPageModel): Page {
  const { offer, messages = {}, notice } = model;
  const total = formatAmount(offer.amountAtom, offer.currency);
  const wrong = fieldOrder.filter((name) => messages[name] !== undefined);
  const troubled = wrong.length > 0 || notice !== undefined;
  const content = html`
<div class="checkout">
${orderSummary(offer)}
<section class="card" aria-labelledby="pay-title">
<h2 id="pay-title">Pay by card</h2>
${problemBox(wrong.map((name) => [name, messages[name]!] as const), notice)}
<form method="post" action="${model.action}" novalidate data-pay>
<input type="hidden" name="form" value="${model.formToken}">
<input type="hidden" name="try" value="${model.tryNumber}">
${model.asksPayer && html`<fieldset>
<legend>Your details</legend>
${field('email', messages.email, model.typed?.email)}
${field('name', messages.name, model.typed?.name)}
</fieldset>`}
${cardFields(messages)}
<button type="submit">${lock}<span data-busy="Paying ${total} …">Pay ${total}</span></button>
<p class="fine">You pay ${total} to ${offer.accountName}, once. Your card details go to the payment provider and are never stored here.</p>
</form>
</section>
</div>`;
  return renderPage({
    title: `${troubled ? 'Error: ' : ''}Pay ${total} to ${offer.accountName}`,
    status: model.status ?? 200,
    content,
    base: model.base,
    formTargets: model.formTargets,
    testMode: model.testMode,
  });
}

/** What is sold, by whom, for how much. */
export function orderSummary(offer: Offer): Html {
  const amount = (atoms: number) => formatAmount(atoms, offer.currency);
  return html`<section class="order" aria-labelledby="order-title">
<p class="merchant"><span class="monogram" aria-hidden="true">${monogram(offer.accountName)}</span>${offer.accountName}</p>
<h1 id="order-title"><span class="quiet">To pay</span> ${amount(offer.amountAtom)}</h1>
<ul class="lines">
${offer.lines.map((line) => html`<li><div><span class="item">${line.name}</span>${line.description && html`<span class="quiet">${line.description}</span>`}${line.quantity > 1 && html`<span class="quiet">${line.quantity} × ${amount(line.unitAmountAtom)}</span>`}</div><span class="amount">${amount(line.amountAtom)}</span></li>`)}
</ul>
<p class="total"><span>Total</span><span class="amount">${amount(offer.amountAtom)}</span></p>
</section>`;
}

export function monogram(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? '·';
}
