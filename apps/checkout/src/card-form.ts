import type { FieldMessages, PayField } from '../../../libs/domain/payment-link/card-form.js';
import { html, type Html } from './html.js';

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

export const fieldOrder: readonly PayField[] = ['email', 'name', 'number', 'expiry', 'cvc'];

export const lock = html`<svg class="lock" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false"><path fill="currentColor" d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2h.5a1 1 0 0 1 1 1v5.5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zm1.75 0h3.5V5a1.75 1.75 0 0 0-3.5 0z"/></svg>`;

export interface Notice {
  title: string;
  text: string;
}

/** Why the form comes back; takes the focus. Hidden while there is nothing to say. */
export function problemBox(wrong: readonly (readonly [PayField, string])[], notice: Notice | undefined): Html {
  const title = notice?.title ?? 'Check what you entered';
  const shown = wrong.length > 0 || notice !== undefined;
  const mark = shown ? html` autofocus` : html` hidden`;
  return html`<div class="problem" id="problem" role="alert" tabindex="-1" aria-labelledby="problem-title"${mark}>
<h3 id="problem-title">${title}</h3>
${notice && html`<p>${notice.text}</p><p>You have not been charged.</p>`}
<ul id="problem-list">${wrong.map(([name, message]) => html`<li><a href="#${name}">${message}</a></li>`)}</ul>
</div>`;
}

export function field(name: PayField, message: string | undefined, value = ''): Html {
  const { label, type, autocomplete, inputmode, longest, hint, empty, wrong } = fields[name];
  const described = [hint && `${name}-hint`, `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="${type}" inputmode="${inputmode}" autocomplete="${autocomplete}" maxlength="${longest}" value="${value}" required aria-required="true" aria-describedby="${described}" data-empty="${empty}" data-wrong="${wrong}"${message !== undefined && html` aria-invalid="true"`}${name !== 'email' && name !== 'name' && html` spellcheck="false" autocorrect="off"`}>
<p class="error" id="${name}-error">${message}</p>
</div>`;
}

/** The fields of a card; what was typed never comes back. */
export function cardFields(messages: FieldMessages): Html {
  return html`<fieldset>
<legend>Card</legend>
${field('number', messages.number)}
<div class="pair">
${field('expiry', messages.expiry)}
${field('cvc', messages.cvc)}
</div>
</fieldset>`;
}
