import type { FieldMessages, PayField } from '../../../libs/domain/payment-link/card-form.js';
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
  notice?: { title: string; text: string };
  status?: number;
}

interface Field {
  name: PayField;
  label: string;
  type: 'text' | 'email';
  autocomplete: string;
  inputmode: 'text' | 'email' | 'numeric';
  longest: number;
  hint?: string;
  empty: string;
  wrong: string;
}

const fields: Record<PayField, Field> = {
  email: {
    name: 'email', label: 'E-mail', type: 'email', autocomplete: 'email', inputmode: 'email', longest: 254,
    empty: 'Enter your e-mail address.', wrong: 'Enter an e-mail address like name@example.com.',
  },
  name: {
    name: 'name', label: 'Full name', type: 'text', autocomplete: 'name', inputmode: 'text', longest: 120,
    empty: 'Enter your name.', wrong: 'Enter your name.',
  },
  number: {
    name: 'number', label: 'Card number', type: 'text', autocomplete: 'cc-number', inputmode: 'numeric', longest: 40,
    empty: 'Enter your card number.', wrong: 'This card number is not valid. Check it for a typing mistake.',
  },
  expiry: {
    name: 'expiry', label: 'Expiry date', type: 'text', autocomplete: 'cc-exp', inputmode: 'numeric', longest: 12, hint: 'Month / year',
    empty: 'Enter the expiry date.', wrong: 'Enter the expiry date as month and year, for example 04/30.',
  },
  cvc: {
    name: 'cvc', label: 'Security code', type: 'text', autocomplete: 'cc-csc', inputmode: 'numeric', longest: 8, hint: '3 or 4 digits',
    empty: 'Enter the security code.', wrong: 'The security code has 3 digits, or 4 on American Express cards.',
  },
};

const order: readonly PayField[] = ['email', 'name', 'number', 'expiry', 'cvc'];

const lock = html`<svg class="lock" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false"><path fill="currentColor" d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2h.5a1 1 0 0 1 1 1v5.5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zm1.75 0h3.5V5a1.75 1.75 0 0 0-3.5 0z"/></svg>`;

/** The form of a payment link. */
export function renderPayPage(model: PayPageModel): Page {
  const { offer, messages = {}, notice } = model;
  const total = formatAmount(offer.amountAtom, offer.currency);
  const wrong = order.filter((name) => messages[name] !== undefined);
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
<fieldset>
<legend>Card</legend>
${field('number', messages.number)}
<div class="pair">
${field('expiry', messages.expiry)}
${field('cvc', messages.cvc)}
</div>
</fieldset>
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

function monogram(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? '·';
}

function problemBox(wrong: readonly (readonly [PayField, string])[], notice: PayPageModel['notice']): Html {
  const title = notice?.title ?? 'Check what you entered';
  const shown = wrong.length > 0 || notice !== undefined;
  const mark = shown ? html` autofocus` : html` hidden`;
  return html`<div class="problem" id="problem" role="alert" tabindex="-1" aria-labelledby="problem-title"${mark}>
<h3 id="problem-title">${title}</h3>
${notice && html`<p>${notice.text}</p><p>You have not been charged.</p>`}
<ul id="problem-list">${wrong.map(([name, message]) => html`<li><a href="#${name}">${message}</a></li>`)}</ul>
</div>`;
}

function field(name: PayField, message: string | undefined, value = ''): Html {
  const { label, type, autocomplete, inputmode, longest, hint, empty, wrong } = fields[name];
  const described = [hint && `${name}-hint`, `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="${type}" inputmode="${inputmode}" autocomplete="${autocomplete}" maxlength="${longest}" value="${value}" required aria-required="true" aria-describedby="${described}" data-empty="${empty}" data-wrong="${wrong}"${message !== undefined && html` aria-invalid="true"`}${name !== 'email' && name !== 'name' && html` spellcheck="false" autocorrect="off"`}>
<p class="error" id="${name}-error">${message}</p>
</div>`;
}
