import { planPause } from './pause-subscription.js';
import { planStep } from './step-subscription.js';
import { stateOf } from './subscription.machine.js';
import { nextDue } from './subscription.schedule.js';
import { begin, cancel, day, hour, iso, pause, resume, start, update, type Sketch } from './subscription.sketch.js';

const at = (text: string) => new Date(`${text}Z`);

function until(sub: Sketch, text: string): void {
  sub.pass(at(text).getTime() - sub.world.now.getTime());
}

/** Paused for one cycle from 28 February; the resume of 31 March is refused. */
function refusedResume(outcome: 'soft_decline' | 'hard_decline' | 'action_required' = 'soft_decline'): Sketch {
  const sub = begin({}, { outcomes: ['approved', outcome] });
  sub.command(pause({ cycles: 1 }));
  until(sub, '2027-04-01T00:00:00');
  expect(stateOf(sub.s)).toBe('paused/current');
  expect(sub.events.at(-1)).toBe('resume_failed');
  return sub;
}

const periods = (sub: Sketch) => sub.invoices.map(({ periodStart, status }) => `${iso(periodStart)?.slice(0, 10)} ${status}`);

describe('a refused resume that is paid later', () => {
  it('bills no period that passed while paused when another method pays it', () => {
    const sub = refusedResume();
    until(sub, '2027-06-10T12:00:00');
    sub.world.method = 'another';
    sub.pass(3 * day);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(periods(sub)).toEqual(['2027-01-31 paid', '2027-03-31 void', '2027-06-10 paid']);
    expect(sub.invoices.at(-1)!.totalAtom).toBe(2_067);
    expect(sub.charges).toHaveLength(3);
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-06-30T12:00:00');
    expect(sub.s.completedCycles).toBe(2);
  });

  it('goes on with its period while that lasts', () => {
    const sub = refusedResume();
    until(sub, '2027-04-10T12:00:00');
    sub.world.method = 'another';
    sub.pass(day);
    expect(periods(sub)).toEqual(['2027-01-31 paid', '2027-03-31 paid']);
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-04-30T12:00:00');
  });

  it('begins its period with the money where its invoice is paid by hand after it', () => {
    const sub = refusedResume('action_required');
    until(sub, '2027-06-10T12:00:00');
    sub.pay('invoice-2');
    expect(stateOf(sub.s)).toBe('active/current');
    expect(iso(sub.s.currentPeriodStart)).toBe('2027-06-10T12:00:00');
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-07-10T12:00:00');
    expect(sub.invoices).toHaveLength(2);
    sub.pass(15 * day);
    sub.command(cancel());
    expect(sub.credit).toBe(1_550);
  });

  it('waits for a payment of its invoice that somebody else began before it asks for more', () => {
    const sub = refusedResume();
    sub.invoices[1]!.payment = 'unresolved';
    until(sub, '2027-06-10T12:00:00');
    sub.world.method = 'another';
    sub.pass(day);
    expect(sub.charges).toHaveLength(2);
    expect(sub.invoices).toHaveLength(2);
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(iso(sub.s.currentPeriodStart)).toBe('2027-06-11T12:00:00');
  });

  it('stays paused when only what was owed before the pause is paid', () => {
    const sub = begin({ billingInterval: 'week' }, { outcomes: ['approved', 'soft_decline'] });
    until(sub, '2027-02-07T13:00:00');
    sub.world.method = null;
    sub.world.outcomes = Array<'soft_decline'>(9).fill('soft_decline');
    sub.command(pause({ cycles: 1 }));
    until(sub, '2027-03-20T12:00:00');
    expect(sub.events.at(-1)).toBe('resume_failed');
    sub.pay('invoice-2');
    expect(stateOf(sub.s)).toBe('paused/current');
    expect(sub.invoices).toHaveLength(2);
    sub.world.outcomes = [];
    sub.world.method = 'another';
    sub.pass(hour);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(periods(sub).at(-1)).toBe('2027-03-20 paid');
    expect(sub.invoices).toHaveLength(3);
  });

  it('dates a pause from the period\'s end also where it is noticed late', () => {
    const sub = begin({}, { outcomes: ['approved', 'soft_decline'] });
    sub.command(pause({ cycles: 1 }));
    sub.world.now = at('2027-04-05T12:00:00');
    sub.pass(0);
    expect(iso(sub.s.pausedAt)).toBe('2027-02-28T12:00:00');
    sub.world.method = 'another';
    sub.pass(day);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(periods(sub)).toEqual(['2027-01-31 paid', '2027-03-31 paid']);
  });
});

describe('a resume by its own date', () => {
  it('comes at a date that was set after a refused resume', () => {
    const sub = refusedResume();
    until(sub, '2027-04-11T12:00:00');
    sub.command(pause({ resumesAt: at('2027-04-16T12:00:00') }));
    expect(nextDue(sub.s)).toEqual({ kind: 'resume', at: at('2027-04-16T12:00:00') });
    until(sub, '2027-04-16T11:00:00');
    expect(sub.charges).toHaveLength(2);
    sub.pass(2 * hour);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.charges).toHaveLength(3);
  });

  it('waits while a payment is under way', () => {
    const sub = refusedResume();
    sub.world.outcomes = ['unresolved'];
    sub.command(resume);
    sub.pass(0);
    const later = new Date(sub.world.now.getTime() + day);
    sub.command((s, facts) => planPause(s, { resumesAt: later }, facts));
    expect(nextDue(sub.s)).toBeNull();
    sub.pass(2 * day);
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.charges).toHaveLength(3);
  });

  it('moves with the end of the trial at which the pause begins', () => {
    const sub = begin({ trialDays: 10 });
    sub.command(pause({ cycles: 1 }));
    expect(iso(sub.s.resumesAt)).toBe('2027-03-10T12:00:00');
    sub.command(update({ trialEnd: at('2027-02-21T12:00:00') }));
    expect(iso(sub.s.resumesAt)).toBe('2027-03-21T12:00:00');
    until(sub, '2027-03-01T12:00:00');
    expect(iso(sub.s.resumesAt)).toBe('2027-03-21T12:00:00');
  });

  it('does not try a method again that was declined for good, before the pause or by the resume itself', () => {
    const sub = begin({ billingInterval: 'week' }, { outcomes: ['approved', 'hard_decline'] });
    until(sub, '2027-02-08T12:00:00');
    sub.command(pause({ cycles: 2 }));
    until(sub, '2027-03-02T12:00:00');
    expect(stateOf(sub.s)).toBe('paused/past_due');
    expect(sub.events.at(-1)).toBe('resume_failed');
    expect(sub.charges).toHaveLength(2);
    sub.world.method = 'another';
    sub.pass(hour);
    expect(stateOf(sub.s)).toBe('active/current');

    const own = refusedResume('hard_decline');
    own.command(pause({ resumesAt: at('2027-04-16T12:00:00') }));
    until(own, '2027-04-20T12:00:00');
    expect(own.charges).toHaveLength(2);
    expect(own.events.filter((event) => event === 'resume_failed')).toHaveLength(2);
    own.command(resume);
    own.pass(0);
    expect(stateOf(own.s)).toBe('active/current');
  });
});

describe('collecting by invoice', () => {
  const byInvoice = { collectionMethod: 'send_invoice' as const };

  it('is past due when the oldest open invoice is, whenever earlier ones were paid', () => {
    const sub = begin(byInvoice, { method: null });
    until(sub, '2027-02-10T12:00:00');
    sub.pay('invoice-1');
    until(sub, '2027-03-30T11:59:59');
    expect(stateOf(sub.s)).toBe('active/current');
    sub.pass(1_000);
    expect(stateOf(sub.s)).toBe('active/past_due');
    expect(iso(sub.invoices[1]!.dueDate)).toBe('2027-03-30T12:00:00');
  });

  it('never is while each is paid in time, with several open at once', () => {
    const sub = begin({ ...byInvoice, billingInterval: 'week' }, { method: null });
    for (let week = 1; week <= 12; week += 1) {
      sub.pass(7 * day);
      if (week > 3) sub.pay(`invoice-${week - 3}`);
    }
    expect(sub.events).not.toContain('past_due');
    expect(sub.charges).toEqual([]);
  });

  it('waits with dunning until the next due date once what was overdue is paid', () => {
    const sub = begin(byInvoice, { method: null });
    until(sub, '2027-03-03T12:00:00');
    expect(stateOf(sub.s)).toBe('active/past_due');
    sub.pay('invoice-1');
    expect(sub.s.dunning).toBeNull();
    expect(stateOf(sub.s)).toBe('active/past_due');
    until(sub, '2027-03-30T13:00:00');
    expect(sub.s.dunning?.startedAt).toBe('2027-03-30T12:00:00.000Z');
    sub.pay('invoice-2');
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('is past due again as soon as it resumes with an overdue invoice', () => {
    const sub = begin({ ...byInvoice, netD: 20 }, { method: null });
    sub.command(pause({ cycles: 1 }));
    until(sub, '2027-03-01T12:00:00');
    expect(stateOf(sub.s)).toBe('paused/past_due');
    until(sub, '2027-03-31T12:00:00');
    expect(stateOf(sub.s)).toBe('active/past_due');
    expect(sub.s.dunning?.startedAt).toBe('2027-03-31T12:00:00.000Z');
  });

  it('is not past due by a payment by hand that fails before the due date', () => {
    const sub = begin(byInvoice, { method: null });
    sub.command(update({ cancelAtEnd: true }));
    sub.invoices[0]!.payment = 'unresolved';
    until(sub, '2027-02-28T13:00:00');
    sub.answer('soft_decline');
    sub.pass(0);
    expect(sub.events).not.toContain('past_due');
    expect(stateOf(sub.s)).toBe('cancelled');
  });
});

describe('an incomplete subscription whose invoice was voided', () => {
  it('rests when another method is set, and ends at 23 h', () => {
    const sub = begin({}, { outcomes: ['soft_decline'] });
    sub.pass(hour);
    sub.invoice('invoice-1').status = 'void';
    sub.world.method = 'another';
    sub.pass(0);
    expect(planStep(sub.s, sub.facts())).toBeNull();
    expect(sub.s.chargedMethodId).toBe('another');
    expect(nextDue(sub.s)!.at.getTime()).toBeGreaterThan(sub.world.now.getTime());
    sub.pass(23 * hour - (sub.world.now.getTime() - start.getTime()));
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.charges).toHaveLength(1);
  });
});
