import { emailKinds, isMailAddress, type EmailFacts } from '../domain/email/email.js';
import { emailModel } from './email.model.js';
import { outdatedReason } from './outdated.js';
import { renderEmail } from './render.js';
import { outcomeOf } from './send-outcome.js';

const at = new Date('2027-03-01T12:00:00.000Z');
const facts: EmailFacts = {
  accountName: 'Shop',
  settings: { enabledKinds: emailKinds, senderName: null, replyTo: null },
  recipient: 'ada@example.com',
  customer: { name: 'Ada Lovelace', language: 'de', onTestClock: false },
  invoice: {
    number: 12, status: 'past_due', currency: 'eur', totalAtom: 1_250, dueAtom: 1_250, paidAtom: 0,
    dueDate: new Date('2027-02-27T12:00:00.000Z'), paidAt: null, lines: [{ name: 'Plan', quantity: 2, amountAtom: 1_250 }],
  },
  subscription: { name: 'Plan', status: 'trialing', interval: 'month', intervalCount: 1, currency: 'eur', trialEnd: new Date('2027-03-04T00:00:00.000Z'), nextTotalAtom: 1_250 },
  told: { status: 'active', nextAttemptAt: '2027-03-02T00:00:00.000Z', trialEnd: '2027-03-04T00:00:00.000Z' },
};
const link = 'https://pay.example.com/pay/invoices/abc';
const rendered = (kind: (typeof emailKinds)[number], change: Partial<EmailFacts> = {}, to: string | null = link) =>
  renderEmail(emailModel({ ...facts, ...change }, { kind, link: to, at }));

describe('an e-mail', () => {
  it.each([
    ['receipt', 'Receipt from Shop for invoice 12', 'Total: €12.50'],
    ['invoice', 'Invoice 12 from Shop', '€12.50 are due on February 27, 2027.'],
    ['payment_failed', 'Your payment to Shop failed', 'We will try again on March 2, 2027.'],
    ['action_needed', 'Please confirm your payment to Shop', 'your bank wants you to confirm the payment of €12.50'],
    ['trial_ending', 'Your trial of Plan ends on March 4, 2027', 'From then on it costs €12.50 per month.'],
    ['reminder', 'Overdue: invoice 12 from Shop', 'was due on February 27, 2027; €12.50 are still open.'],
  ] as const)('%s says what it is about, in HTML and in text', (kind, subject, sentence) => {
    const mail = rendered(kind);
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(sentence);
    expect(mail.html).toContain(sentence.replace('Total: €12.50', '<strong>€12.50</strong>'));
    expect(mail.text.includes(link)).toBe(kind !== 'trial_ending');
    expect(mail.text).toContain('Hello Ada Lovelace,');
    expect(`${mail.subject}${mail.html}${mail.text}`).not.toMatch(/\{\{|\}\}|undefined|null|\[object/);
  });

  it('leaves out what there is not', () => {
    const mail = rendered('payment_failed', { customer: { ...facts.customer, name: null }, told: { status: 'cancelled', nextAttemptAt: null, trialEnd: null } }, null);
    expect(mail.text).toContain('Hello,');
    expect(mail.text).not.toContain('try again');
    expect(mail.text).toContain('Your subscription to Plan has been cancelled.');
    expect(mail.html).not.toContain('<a ');
  });

  it('escapes what people typed, and lets it open no header and no line', () => {
    const evil = 'A<script>alert(1)</script>"\r\nBcc: all@example.com\n\n{{account}}\u2028x\u202e';
    const mail = rendered('invoice', { accountName: evil, customer: { ...facts.customer, name: evil }, invoice: { ...facts.invoice!, lines: [{ name: evil, quantity: 1, amountAtom: 1 }] } });
    expect(mail.subject).not.toMatch(/[\r\n\u2028\u202e]/);
    expect(mail.html).not.toContain('<script');
    expect(mail.html).toContain('&lt;script&gt;');
    expect(mail.text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([]);
    expect(mail.text).toContain('{{account}}');
  });

  it('has amounts without decimals where the currency has none, and a subject without a gap for a draft', () => {
    const yen = { ...facts.invoice!, currency: 'jpy', number: null, totalAtom: 123_456, dueAtom: 123_456, lines: [{ name: 'Plan', quantity: 1, amountAtom: 123_456 }] };
    const mail = rendered('invoice', { invoice: yen });
    expect(mail.text).toContain('¥123,456 are due');
    expect(mail.text).toContain('Plan × 1: ¥123,456\n');
    expect(mail.subject).toBe('Invoice from Shop');
  });

  it('has a subject of at most 200 characters', () => {
    expect(rendered('invoice', { accountName: 'x'.repeat(1_000) }).subject).toHaveLength(200);
  });
});

describe('a mail that waited', () => {
  const withStatus = (status: string) => ({ ...facts, invoice: { ...facts.invoice!, status } });

  it('asks for no money that is paid or not owed any more', () => {
    for (const kind of ['payment_failed', 'action_needed', 'reminder'] as const) {
      expect(outdatedReason(kind, withStatus('paid'))).toContain('paid');
      expect(outdatedReason(kind, withStatus('void'))).toContain('void');
      for (const status of ['open', 'past_due', 'uncollectible']) expect(outdatedReason(kind, withStatus(status))).toBeNull();
    }
    expect(outdatedReason('invoice', withStatus('void'))).toContain('void');
    expect(outdatedReason('invoice', withStatus('paid'))).toBeNull();
    expect(outdatedReason('receipt', withStatus('paid'))).toBeNull();
    expect(outdatedReason('reminder', { ...facts, invoice: null })).toContain('gone');
    expect(outdatedReason('receipt', withStatus('open'))).toContain('open');
  });

  it('promises no try that is over', () => {
    expect(rendered('payment_failed', { told: { ...facts.told, nextAttemptAt: '2027-03-01T11:59:59.000Z' } }).text).not.toContain('try again');
  });

  it('tells of no trial that has ended, stands still or ends at another time', () => {
    const trial = (change: object) => outdatedReason('trial_ending', { ...facts, subscription: { ...facts.subscription!, ...change } });
    expect(trial({})).toBeNull();
    for (const status of ['cancelled', 'active', 'paused']) expect(trial({ status })).toContain(status);
    expect(trial({ trialEnd: new Date('2027-03-09T00:00:00.000Z') })).toContain('another time');
  });
});

describe('an address', () => {
  it.each(['ada@example.com', 'a.b+c@mail.example.co.uk', "o'neil@example.org", 'x@localhost'])('%s may be written to', (text) => {
    expect(isMailAddress(text)).toBe(true);
  });

  it.each(['', 'ada', 'a@b@c', 'a@b.c,d@e.f', 'Ada <a@b.c>', 'a b@c.d', 'a@b.c\r\nBcc: x@y.z', 'a@-b.c', 'a@b..c', `${'a'.repeat(65)}@b.c`])('%j may not', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });
});

describe('what the server answers', () => {
  const failed = (part: object) => outcomeOf(Object.assign(new Error('x'), part), ['hush']);

  it('ends a mail only by a 5xx about the mail itself', () => {
    expect(failed({ code: 'EENVELOPE', responseCode: 550, response: '550 no such user' })).toEqual({ kind: 'refused', reason: '550 no such user' });
    expect(failed({ code: 'EMESSAGE', responseCode: 554 }).kind).toBe('refused');
    expect(failed({ code: 'EENVELOPE', responseCode: 451 }).kind).toBe('later');
    expect(failed({ code: 'EAUTH', responseCode: 535 }).kind).toBe('later');
    expect(failed({ code: 'ECONNECTION' }).kind).toBe('later');
    expect(outcomeOf(undefined, []).kind).toBe('later');
  });

  it('is kept without the password, on one line, and short', () => {
    expect(failed({ response: '535 bad\r\nhush' })).toEqual({ kind: 'later', reason: '535 bad …' });
    expect(failed({ response: 'y'.repeat(5_000) })).toMatchObject({ reason: 'y'.repeat(500) });
  });
});
