import type { OutcomeClass } from '../payment/outcome.js';
import { nextInvoice } from './next-invoice.js';
import { stateOf } from './subscription.machine.js';
import { nextDue } from './subscription.schedule.js';
import { begin, cancel, day, hour, iso, pause, resume, update, type Sketch } from './subscription.sketch.js';

const at = (text: string) => new Date(`${text}Z`);
const until = (sub: Sketch, text: string) => sub.pass(at(text).getTime() - sub.world.now.getTime());
const begun = (text: string, input: Parameters<typeof begin>[0] = {}, outcomes: (OutcomeClass | 'unresolved')[] = []) => begin(input, { now: at(text), outcomes });
const periods = (sub: Sketch) => sub.invoices.map(({ periodStart, periodEnd }) => `${iso(periodStart)?.slice(0, 10)}/${iso(periodEnd)?.slice(0, 10)}`);
const declines = (n: number) => Array<OutcomeClass>(n).fill('soft_decline');

describe('what users of other engines reported: dates', () => {
  it('bills the third period of a 31st anchor, and every one after it', () => {
    const sub = begun('2017-01-31T00:00:00');
    until(sub, '2018-02-01T00:00:00');
    expect(sub.invoices).toHaveLength(13);
    expect(periods(sub).slice(0, 4)).toEqual(['2017-01-31/2017-02-28', '2017-02-28/2017-03-31', '2017-03-31/2017-04-30', '2017-04-30/2017-05-31']);
  });

  it('does nothing on the 30th of a month that has 31 days', () => {
    const sub = begun('2025-03-31T00:00:00');
    until(sub, '2025-05-30T23:59:59');
    expect(sub.invoices).toHaveLength(2);
    sub.pass(1_000);
    expect(periods(sub)[2]).toBe('2025-05-31/2025-06-30');
  });

  it('bills on 29 February the period that begins there, not the one that ends', () => {
    const sub = begun('2024-01-30T00:00:00');
    until(sub, '2024-02-29T00:01:00');
    expect(periods(sub)).toEqual(['2024-01-30/2024-02-29', '2024-02-29/2024-03-30']);
  });

  it('bills one whole period where a trial ends on the anchor date', () => {
    const sub = begun('2024-06-01T00:00:00', { startsAt: at('2024-05-15T00:00:00'), trialEnd: at('2024-06-15T00:00:00') });
    until(sub, '2024-06-20T00:00:00');
    expect(periods(sub)).toEqual(['2024-06-15/2024-07-15']);
    expect(sub.invoices[0]!.totalAtom).toBe(3_100);
  });

  it('gives nothing back, not even for a second, where it ends at its period end', () => {
    const sub = begun('2013-01-20T07:30:42', { billingInterval: 'year' });
    sub.command(update({ cancelAtEnd: true }));
    until(sub, '2014-01-20T07:30:42');
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.credit).toBe(0);
    expect(sub.invoices).toHaveLength(1);
  });
});

describe('what users of other engines reported: pauses', () => {
  it('pauses and resumes many times in one year without two terms that overlap', () => {
    const sub = begun('2026-01-01T00:00:00', { billingInterval: 'year' });
    for (let times = 0; times < 6; times += 1) {
      sub.pass(20 * day);
      sub.command(pause());
      sub.pass(9 * day);
      sub.command(resume);
    }
    expect(sub.invoices).toHaveLength(1);
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-02-24T00:00:00');
    sub.pass(365 * day);
    expect(periods(sub)).toEqual(['2026-01-01/2027-01-01', '2027-02-24/2028-02-24']);
  });

  it('bills a daily plan that resumes no day of its pause', () => {
    const sub = begun('2025-05-01T00:30:00', { billingInterval: 'day' });
    until(sub, '2025-05-01T23:30:00');
    sub.command(pause());
    until(sub, '2025-05-03T00:25:00');
    sub.command(resume);
    until(sub, '2025-05-03T02:00:00');
    expect(sub.invoices.map(({ periodStart }) => iso(periodStart))).toEqual(['2025-05-01T00:30:00', '2025-05-03T01:25:00']);
  });

  it('makes no invoice for a suspended time, neither in it nor afterwards', () => {
    const sub = begin();
    sub.command(pause({ cycles: 3 }));
    until(sub, '2027-05-31T12:01:00');
    expect(periods(sub)).toEqual(['2027-01-31/2027-02-28', '2027-05-31/2027-06-30']);
  });

  it('runs out the time that was kept, and the agreed cycles, where it resumes after its first end', () => {
    const sub = begun('2025-03-21T00:00:00', { totalBillingCycles: 3 });
    until(sub, '2025-04-25T00:00:00');
    sub.command(pause());
    until(sub, '2025-08-18T00:00:00');
    sub.command(resume);
    sub.pass(100 * day);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices).toHaveLength(3);
    expect(iso(sub.s.currentPeriodEnd)).toBe('2025-10-13T00:00:00');
  });
});

describe('what users of other engines reported: dunning and the end', () => {
  it('keeps its retries, whatever was tried by hand or with another method meanwhile', () => {
    const sub = begin({}, { outcomes: ['approved', ...declines(9)] });
    until(sub, '2027-02-28T13:00:30');
    sub.world.method = 'another';
    sub.pass(20 * day);
    const first = sub.charges[1]!.at.getTime();
    expect(sub.charges.slice(1).map((charge) => (charge.at.getTime() - first) / hour)).toEqual([0, 1, 6, 24, 72, 120, 168, 240, 336]);
  });

  it('begins no attempt after a cancel in dunning', () => {
    const sub = begin({}, { outcomes: ['approved', ...declines(9)] });
    until(sub, '2027-03-02T00:00:00');
    const before = sub.charges.length;
    sub.command(cancel());
    sub.world.method = 'another';
    sub.pass(60 * day);
    expect(sub.charges).toHaveLength(before);
  });

  it('begins no attempt and makes no second invoice when it is cancelled between a renewal and its charge', () => {
    const sub = begin();
    until(sub, '2027-02-28T12:00:10');
    sub.command(cancel({ cancelUnpaidInvoices: true }));
    sub.pass(60 * day);
    expect(sub.charges).toHaveLength(1);
    expect(sub.invoices.map(({ status }) => status)).toEqual(['paid', 'void']);
  });

  it('tells nothing more once it is cancelled', () => {
    const sub = begin();
    sub.pass(5 * day);
    sub.command(cancel());
    const told = sub.events.length;
    sub.pass(100 * day);
    expect(sub.events).toHaveLength(told);
    expect(sub.announced).toEqual([]);
  });

  it('ends at the end of a trial without an invoice', () => {
    const sub = begin({ trialDays: 7 });
    sub.command(update({ cancelAtEnd: true }));
    sub.pass(30 * day);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices).toEqual([]);
    expect(sub.charges).toEqual([]);
    expect(sub.events).toEqual(['created', 'trialing', 'updated', 'canceled']);
  });

  it('stays in no trial for ever: something is always due, with and without a method', () => {
    for (const method of ['method', null]) {
      const sub = begin({ trialDays: 14 }, { method });
      while (stateOf(sub.s) === 'trialing/current') {
        expect(nextDue(sub.s)).not.toBeNull();
        sub.pass(day);
      }
      expect(stateOf(sub.s)).toBe(method ? 'active/current' : 'paused/incomplete');
    }
  });

  it('announces after a pause what it then bills, once', () => {
    const sub = begin({ startsAt: at('2026-12-15T12:00:00') });
    sub.command(pause({ cycles: 1 }));
    until(sub, '2027-03-20T00:00:00');
    const announced = nextInvoice(sub.s, sub.facts())!;
    sub.pass(30 * day);
    const billed = sub.invoices.at(-1)!;
    expect([billed.periodStart, billed.periodEnd, billed.totalAtom]).toEqual([announced.periodStart, announced.periodEnd, announced.totalAtom]);
    expect(sub.announced).toHaveLength(1);
  });
});
