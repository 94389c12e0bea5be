import { planStep } from './step-subscription.js';
import { stateOf } from './subscription.machine.js';
import { begin, cancel, day, pause, resume } from './subscription.sketch.js';

describe('nothing stops silently', () => {
  it('asks the method again that was taken away and set again', () => {
    const sub = begin();
    sub.world.method = null;
    sub.pass(29 * day);
    expect(stateOf(sub.s)).toBe('active/past_due');
    sub.world.method = 'method';
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.charges).toHaveLength(2);
  });

  it('rests at the end of the last cycle while its payment is unknown, and ends with the answer', () => {
    const sub = begin({ totalBillingCycles: 2 }, { outcomes: ['approved', 'unresolved'] });
    sub.pass(80 * day);
    expect(planStep(sub.s, sub.facts())).toBeNull();
    expect(stateOf(sub.s)).toBe('active/current');
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices.map(({ status }) => status)).toEqual(['paid', 'paid']);
  });

  it('resumes by its payment alone what is collected by invoice and was paused by dunning', () => {
    const dunningPolicy = { retryHours: [24], endsAfterHours: null, finalAction: 'pause' as const, reminderHours: [] };
    const sub = begin({ collectionMethod: 'send_invoice', netD: 3, dunningPolicy }, { method: null });
    sub.pass(5 * day);
    expect(stateOf(sub.s)).toBe('paused/past_due');
    sub.command(resume);
    sub.pass(day);
    expect(sub.events).not.toContain('resume_failed');
    expect(stateOf(sub.s)).toBe('paused/past_due');
    sub.pay('invoice-1');
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.charges).toEqual([]);
  });
});

describe('what random histories found in the money', () => {
  it('credits nothing for a period that was never paid, where an older one was and a pause moved its end', () => {
    const sub = begin({}, { outcomes: ['approved', 'unresolved'] });
    sub.pass(89 * day);
    sub.command(pause());
    sub.command(resume);
    sub.command(cancel());
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices.map(({ status }) => status)).toEqual(['paid', 'paid', 'open', 'open']);
    expect(sub.credit).toBe(0);
  });
});
