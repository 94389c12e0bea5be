import { html, type Html } from './html.js';
import { formatAmount } from './money.js';
import { orderSummary, type Offer } from './pay.page.js';
import { renderPage, type Page } from './page.js';

interface Common {
  base: string;
  testMode: boolean;
}

interface Message {
  mark: 'good' | 'wait' | 'bad';
  title: string;
  body: Html;
  /** Beside another main heading. */
  second?: boolean;
}

function message({ mark, title, body, second }: Message): Html {
  const sign = { good: '✓', wait: '…', bad: '!' }[mark];
  return html`<section class="card outcome" aria-labelledby="outcome-title">
<p class="sign ${mark}" aria-hidden="true">${sign}</p>
${second ? html`<h2 id="outcome-title">${title}</h2>` : html`<h1 id="outcome-title">${title}</h1>`}
${body}
</section>`;
}

export interface PaidModel extends Common {
  accountName: string;
  amountAtom: number;
  currency: string;
  /** Public id of the payment intent, to quote to the seller. */
  reference: string;
  /** The seller's page. */
  continueUrl: string | null;
  /** A fresh form of the same link. */
  againUrl: string | null;
}

/** The payment is made. */
export function renderPaidPage(model: PaidModel): Page {
  const body = html`<p>You paid <strong>${formatAmount(model.amountAtom, model.currency)}</strong> to <strong>${model.accountName}</strong>.</p>
<p class="quiet">Reference <code>${model.reference}</code></p>
${model.continueUrl && html`<p><a class="button" href="${model.continueUrl}">Continue to ${model.accountName}</a></p>`}
${model.againUrl && html`<p class="quiet"><a href="${model.againUrl}">Make another payment</a></p>`}`;
  const content = message({ mark: 'good', title: 'Payment complete', body });
  return renderPage({ ...model, title: 'Payment complete', status: 200, content });
}

export interface WaitingModel extends Common {
  /** Where the outcome will be; asked again by itself. */
  statusUrl: string;
  /** Unknown for long: the visitor may leave. */
  long: boolean;
}

/** The outcome is not known yet. */
export function renderWaitingPage(model: WaitingModel): Page {
  const body = html`<p role="status">${model.long ? 'This takes longer than usual. You may close this page: the payment goes on without it, and is made at most once.' : 'We are waiting for your bank. This page moves on by itself.'}</p>
<p>Do not pay again.</p>
<p class="quiet"><a href="${model.statusUrl}">Check now</a></p>`;
  const content = message({ mark: 'wait', title: 'Your payment is being processed', body });
  return renderPage({ ...model, title: 'Payment in progress', status: 200, content, refresh: { seconds: model.long ? 10 : 2, url: model.statusUrl } });
}

export interface ChallengeModel extends Common {
  challengeUrl: string;
}

/** The bank wants the payer to confirm. */
export function renderChallengePage(model: ChallengeModel): Page {
  const body = html`<p>Your bank asks you to confirm this payment. You are taken there now.</p>
<p><a class="button" href="${model.challengeUrl}">Continue to your bank</a></p>`;
  const content = message({ mark: 'wait', title: 'Confirm with your bank', body });
  return renderPage({ ...model, title: 'Confirm with your bank', status: 200, content, refresh: { seconds: 0, url: model.challengeUrl } });
}

/** After a challenge, for a browser that keeps no cookies: says how it ended, and leads nowhere. */
export function renderReturnPage(model: Common & { state: 'paid' | 'open' | 'waiting' }): Page {
  const shown: Record<typeof model.state, Message> = {
    paid: { mark: 'good', title: 'Payment complete', body: html`<p>Thank you. You may close this page.</p>` },
    open: { mark: 'bad', title: 'The payment was not made', body: html`<p>You have not been charged. Open the payment link again to try another card.</p>` },
    waiting: { mark: 'wait', title: 'Your payment is being processed', body: html`<p role="status">This page moves on by itself. Do not pay again.</p>` },
  };
  const content = message(shown[model.state]);
  return renderPage({ ...model, title: shown[model.state].title, status: 200, content, refresh: model.state === 'waiting' ? { seconds: 3 } : undefined });
}

export function renderUnknownPage(model: Common & { what?: 'payment link' | 'invoice' }): Page {
  const { what = 'payment link', ...common } = model;
  const body = html`<p>Check the address, or ask the seller for a new link.</p>`;
  return renderPage({ ...common, title: `No such ${what}`, status: 404, content: message({ mark: 'bad', title: `There is no such ${what}`, body }) });
}

/** The link exists but takes no payments now. */
export function renderInactivePage(model: Common & { accountName: string }): Page {
  const body = html`<p>${model.accountName} is not taking payments through this link at the moment. You have not been charged.</p>
<p>Ask ${model.accountName} for a new link, or come back later.</p>`;
  return renderPage({ ...model, title: 'Payment link not active', status: 410, content: message({ mark: 'bad', title: 'This link is not active', body }) });
}

/** Cards can be entered in the test environment only, until a processor's own card fields stand here. */
export function renderNoCardsPage(model: Common & { offer: Offer }): Page {
  const body = html`<p>${model.offer.accountName} cannot take cards on this page yet. You have not been charged.</p>`;
  const content = html`<div class="checkout">${orderSummary(model.offer)}${message({ mark: 'bad', title: 'Card payments are not set up', body, second: true })}</div>`;
  return renderPage({ ...model, title: 'Card payments are not set up', status: 503, content });
}

/** One of the limits against card testing holds. */
export function renderTooManyPage(model: Common & { retryAfterSeconds: number; backUrl: string }): Page {
  const minutes = Math.ceil(model.retryAfterSeconds / 60);
  const body = html`<p>There were too many tries in a short time. You have not been charged for this one.</p>
<p>Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.</p>
<p class="quiet"><a href="${model.backUrl}">Back to the payment page</a></p>`;
  const content = message({ mark: 'bad', title: 'Too many tries', body });
  return renderPage({ ...model, title: 'Too many tries', status: 429, content, headers: { 'retry-after': String(model.retryAfterSeconds) } });
}

/** Something failed on our side; the same form may be sent again without danger. */
export function renderTroublePage(model: Common & { backUrl: string | null; requestId: string; status: 500 | 503 }): Page {
  const body = html`<p>Something failed on our side. If your payment had begun, it goes on and is made at most once.</p>
${model.backUrl && html`<p><a class="button" href="${model.backUrl}">See how it stands</a></p>`}
<p class="quiet">Reference <code>${model.requestId}</code></p>`;
  const content = message({ mark: 'bad', title: 'Please try again in a moment', body });
  return renderPage({ ...model, title: 'Temporarily unavailable', content, headers: model.status === 503 ? { 'retry-after': '5' } : {} });
}
