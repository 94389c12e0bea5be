import type { EmailKind } from '../domain/email/email.js';
import type { EmailWords } from './words.js';

const greeting = 'Hello{{#customer}} {{customer}}{{/customer}},';
const retry = '{{#nextAttempt}}We will try again on {{nextAttempt}}.{{/nextAttempt}}';
const ended = '{{#cancelled}}Your subscription to {{subscription}} has been cancelled.{{/cancelled}}{{#paused}}Your subscription to {{subscription}} is paused.{{/paused}}';

export const english: Record<EmailKind, EmailWords> = {
  receipt: {
    subject: 'Receipt from {{account}} for invoice {{number}}',
    heading: 'Thank you for your payment',
    paragraphs: [greeting, 'we received {{paid}}{{#paidOn}} on {{paidOn}}{{/paidOn}} for invoice {{number}}.'],
    button: 'See the invoice',
    showsLines: true,
  },
  invoice: {
    subject: 'Invoice {{number}} from {{account}}',
    heading: 'Your invoice',
    paragraphs: [
      greeting,
      'here is invoice {{number}} over {{total}}.',
      '{{#isDue}}{{remaining}} are due on {{dueOn}}.{{/isDue}}{{^isDue}}{{#isPaid}}It is paid.{{/isPaid}}{{/isDue}}',
    ],
    button: 'See and pay the invoice',
    showsLines: true,
  },
  payment_failed: {
    subject: 'Your payment to {{account}} failed',
    heading: 'Your payment failed',
    paragraphs: [
      greeting,
      'we could not collect {{remaining}} for invoice {{number}}.',
      retry,
      ended,
      'You can pay now, or use another payment method, under the link below.',
    ],
    button: 'Pay or change the payment method',
    showsLines: false,
  },
  action_needed: {
    subject: 'Please confirm your payment to {{account}}',
    heading: 'Your bank asks you to confirm',
    paragraphs: [
      greeting,
      'your bank wants you to confirm the payment of {{remaining}} for invoice {{number}} yourself. We do not try again by ourselves.',
      ended,
    ],
    button: 'Confirm the payment',
    showsLines: false,
  },
  trial_ending: {
    subject: 'Your trial of {{subscription}} ends{{#trialEndsOn}} on {{trialEndsOn}}{{/trialEndsOn}}',
    heading: 'Your trial ends soon',
    paragraphs: [
      greeting,
      'your trial of {{subscription}} ends{{#trialEndsOn}} on {{trialEndsOn}}{{/trialEndsOn}}.',
      '{{#next}}From then on it costs {{next}} per {{interval}}.{{/next}}',
    ],
    button: null,
    showsLines: false,
  },
  reminder: {
    subject: '{{#overdue}}Overdue{{/overdue}}{{^overdue}}Reminder{{/overdue}}: invoice {{number}} from {{account}}',
    heading: '{{#overdue}}Your invoice is overdue{{/overdue}}{{^overdue}}Your invoice is due soon{{/overdue}}',
    paragraphs: [
      greeting,
      '{{#overdue}}invoice {{number}} was due on {{dueOn}}; {{remaining}} are still open.{{/overdue}}{{^overdue}}{{remaining}} for invoice {{number}} are due on {{dueOn}}.{{/overdue}}',
      'If you have just paid, please ignore this message.',
    ],
    button: 'See and pay the invoice',
    showsLines: true,
  },
};
