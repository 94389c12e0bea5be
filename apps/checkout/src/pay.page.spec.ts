import { currencies } from '../../../libs/domain/currency.js';
import { declines } from '../../../libs/errors/catalogue.js';
import { assets, findAsset } from './assets.js';
import { declineWords } from './decline-words.js';
import { html } from './html.js';
import { renderInvoicePage, type InvoiceForm, type InvoicePageModel, type InvoiceStanding } from './invoice.page.js';
import { formatAmount } from './money.js';
import {
  renderChallengePage, renderInactivePage, renderNoCardsPage, renderPaidPage, renderReturnPage, renderTooManyPage, renderTroublePage, renderUnknownPage,
  renderWaitingPage,
} from './outcome.page.js';
import { renderPayPage, type PayPageModel } from './pay.page.js';
import type { Page } from './page.js';

const evil = `"><script>alert('x')</script>&`;
const common = { base: '/pay', testMode: true };
const offer = {
  accountName: evil,
  currency: 'eur',
  amountAtom: 2_500,
  lines: [{ name: evil, description: evil, quantity: 2, unitAmountAtom: 1_250, amountAtom: 2_500 }],
};
const model: PayPageModel = {
  ...common, offer, action: '/pay/token', formTargets: ['https://shop.example'], formToken: 'form', tryNumber: 0, asksPayer: true,
};

const issued = new Date('2026-01-31T00:00:00.000Z');
const invoice: InvoicePageModel['invoice'] = {
  number: 7, sellerName: evil, billedTo: evil, currency: 'eur', totalAtom: 1_990, appliedBalanceAtom: 490, creditedAtom: 0, dueAtom: 1_500, remainingAtom: 1_500,
  issuedAt: issued, dueDate: new Date('2026-03-02T00:00:00.000Z'), paidAt: issued, description: evil,
  lines: [{ name: evil, description: evil, quantity: 3, amountAtom: 1_990, period: { start: issued, end: new Date('2026-02-28T00:00:00.000Z') } }],
};
const invoiceForm: InvoiceForm = { action: '/pay/invoices/token', formTargets: ['https://bank.example'], tryNumber: 2, overdue: true, keep: { checked: true } };
const invoicePage = (standing: InvoiceStanding, more: Partial<InvoicePageModel['invoice']> = {}, status?: number) =>
  renderInvoicePage({ ...common, invoice: { ...invoice, ...more }, standing, status });

const pages: Record<string, Page> = {
  'open invoice': invoicePage({ kind: 'open', form: invoiceForm }),
  'invoice with mistakes': invoicePage({ kind: 'open', form: { ...invoiceForm, messages: { cvc: 'Enter the security code.' } } }, {}, 422),
  'declined invoice': invoicePage({ kind: 'open', form: { ...invoiceForm, notice: declineWords('do_not_honor') } }, {}, 402),
  'challenged invoice': invoicePage({ kind: 'challenge', url: `https://bank.example/?q=${evil}`, form: invoiceForm }),
  'paid invoice': invoicePage({ kind: 'paid' }),
  'credited invoice': invoicePage({ kind: 'paid' }, { totalAtom: -750, creditedAtom: 750, appliedBalanceAtom: 0, dueAtom: 0 }),
  'cancelled invoice': invoicePage({ kind: 'void' }),
  'invoice without cards': invoicePage({ kind: 'no_cards' }),
  'unknown invoice': renderUnknownPage({ ...common, what: 'invoice' }),
  form: renderPayPage(model),
  'form with mistakes': renderPayPage({ ...model, typed: { email: evil, name: evil }, messages: { email: 'Enter your e-mail address.', cvc: 'Enter the security code.' }, status: 422 }),
  'form after a decline': renderPayPage({ ...model, notice: declineWords('do_not_honor'), tryNumber: 1, status: 402 }),
  paid: renderPaidPage({ ...common, accountName: evil, amountAtom: 1, currency: 'jpy', reference: evil, continueUrl: `https://shop.example/?q=${evil}`, againUrl: '/pay/token?new=1' }),
  waiting: renderWaitingPage({ ...common, statusUrl: '/pay/token/payment/form', long: false }),
  'waiting for long': renderWaitingPage({ ...common, statusUrl: '/pay/token/payment/form', long: true }),
  challenge: renderChallengePage({ ...common, challengeUrl: `https://bank.example/?q=${evil}` }),
  returned: renderReturnPage({ ...common, state: 'waiting' }),
  unknown: renderUnknownPage(common),
  inactive: renderInactivePage({ ...common, accountName: evil }),
  'no cards': renderNoCardsPage({ ...common, offer }),
  'too many': renderTooManyPage({ ...common, retryAfterSeconds: 90, backUrl: '/pay/token' }),
  trouble: renderTroublePage({ ...common, backUrl: null, requestId: evil, status: 500 }),
};

describe('the pages of payment links and invoices', () => {
  it.each(Object.entries(pages))('%s: escapes every value and holds no inline code', (_name, { markup }) => {
    expect(markup).not.toContain("alert('x')");
    expect(markup).not.toContain('"><script>');
    expect(markup.match(/<script\b[^>]*>/g)).toEqual([`<script src="/pay/assets/${assets.script.name}" defer>`]);
    expect(markup).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
    expect(markup).not.toMatch(/(src|href)="(https?:)?\/\/(?!shop\.example|bank\.example)/);
  });

  it.each(Object.entries(pages))('%s: allows our own files only, in no frame, in no cache', (_name, { headers, markup }) => {
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'/);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' });
    expect(markup).toMatch(/<html lang="en">/);
    expect(markup.match(/<h1\b/g)).toHaveLength(1);
  });

  it('answers each state with its own status', () => {
    expect(Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, page.status]))).toMatchObject({
      form: 200, 'form with mistakes': 422, 'form after a decline': 402, unknown: 404, inactive: 410, 'too many': 429, trouble: 500,
    });
    expect(pages['too many']!.headers['retry-after']).toBe('90');
  });

  it('lets the form lead to the seller and nowhere else', () => {
    expect(pages.form!.headers['content-security-policy']).toContain("form-action 'self' https://shop.example;");
  });

  it('labels every field and tells the browser what to fill in', () => {
    const { markup } = pages.form!;
    for (const [name, autocomplete] of Object.entries({ email: 'email', name: 'name', number: 'cc-number', expiry: 'cc-exp', cvc: 'cc-csc' })) {
      expect(markup).toContain(`<label for="${name}">`);
      expect(markup).toMatch(new RegExp(`<input id="${name}" name="${name}"[^>]* autocomplete="${autocomplete}"`));
    }
    expect(markup.match(/inputmode="numeric"/g)).toHaveLength(3);
  });

  it('puts mistakes at their fields and in a summary that takes the focus', () => {
    const { markup } = pages['form with mistakes']!;
    expect(markup).toMatch(/role="alert" tabindex="-1" aria-labelledby="problem-title" autofocus/);
    expect(markup).toContain('<a href="#email">Enter your e-mail address.</a>');
    expect(markup).toContain('id="cvc-error">Enter the security code.</p>');
    expect(markup.match(/aria-invalid="true"/g)).toHaveLength(2);
    expect(markup).toContain('<title>Error: ');
  });

  it('shows an invoice with its periods and what credit paid of it, and asks for what remains', () => {
    const { markup } = pages['open invoice']!;
    for (const shown of ['31 Jan 2026 – 28 Feb 2026', '€19.90', '-€4.90', 'Pay €15.00', 'value="2"', 'This invoice is overdue.']) expect(markup).toContain(shown);
    expect(markup).toContain('name="keep" value="1" checked');
    expect(invoicePage({ kind: 'open', form: { ...invoiceForm, keep: null } }).markup).not.toContain('name="keep"');
    for (const closed of ['paid invoice', 'cancelled invoice', 'credited invoice', 'invoice without cards']) expect(pages[closed]!.markup).not.toContain('<form');
    expect(pages['credited invoice']!.markup).toContain('€7.50 is kept as your credit');
    expect([pages['declined invoice']!.status, pages['invoice with mistakes']!.status, pages['unknown invoice']!.status]).toEqual([402, 422, 404]);
  });

  it('asks a known customer for the card only', () => {
    const { markup } = renderPayPage({ ...model, asksPayer: false });
    expect(markup).not.toContain('name="email"');
    expect(markup).toContain('name="number"');
  });

  it('has plain words for every decline code, and the same for all that would help a thief', () => {
    for (const code of Object.keys(declines)) expect(declineWords(code).text.length).toBeGreaterThan(20);
    for (const code of ['lost_card', 'stolen_card', 'suspected_fraud', 'do_not_honor', 'generic_decline']) expect(declineWords(code)).toEqual(declineWords(null));
    expect(declineWords('constructor')).toEqual(declineWords(null));
  });

  it('serves its files by their hashed names only', () => {
    expect(findAsset(assets.script.name)?.type).toMatch(/javascript/);
    expect(findAsset('page.js')).toBeNull();
    expect(findAsset('../package.json')).toBeNull();
  });
});

describe('html', () => {
  it('escapes text and leaves out what is not there', () => {
    expect(html`<a title="${`'"<>&\``}">${null}${undefined}${false}${0}</a>`.markup).toBe('<a title="&#39;&quot;&lt;&gt;&amp;&#96;">0</a>');
    expect(html`<ul>${['a', '<b>'].map((each) => html`<li>${each}</li>`)}</ul>`.markup).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>');
  });
});

describe('amounts', () => {
  it.each([
    [1_250, 'eur', '€12.50'], [5, 'usd', '$0.05'], [0, 'usd', '$0.00'], [-5, 'usd', '-$0.05'], [-1_250, 'eur', '-€12.50'], [1_250, 'jpy', '¥1,250'], [100_000, 'clp', 'CLP 100,000'],
    [Number.MAX_SAFE_INTEGER, 'usd', '$90,071,992,547,409.91'],
  ])('%d %s is %s', (amount, currency, text) => {
    expect(formatAmount(amount, currency).replaceAll('\u00a0', ' ')).toBe(text);
  });

  it('knows every currency that the service takes', () => {
    for (const currency of currencies) expect(formatAmount(123_456, currency)).toMatch(/(1,234\.56|123,456)/);
  });
});
