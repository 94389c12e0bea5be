import type { OutcomeClass } from '../payment/outcome.js';
import { checkDunningPolicy, defaultDunningPolicy, type DunningPolicy } from './dunning-policy.js';
import { stateOf } from './subscription.machine.js';
import { nextDue } from './subscription.schedule.js';
import { begin, day, hour, iso, pause, resume, start, update, type Sketch } from './subscription.sketch.js';

const policy = (part: Partial<DunningPolicy> = {}): DunningPolicy => ({ ...defaultDunningPolicy, ...part });
const declines = (count: number, outcome: OutcomeClass = 'soft_decline') => Array<OutcomeClass>(count).fill(outcome);
const renewal = new Date('2027-02-28T12:00:00.000Z').getTime() + 30_000;

/** Renews into a decline, `later` being what follows. */
function dunned(dunningPolicy: DunningPolicy | null, later: OutcomeClass[], account?: DunningPolicy): Sketch {
  const sub = begin({ dunningPolicy }, { outcomes: ['approved', ...later], rules: account ? { dunningPolicy: account } : {} });
  sub.pass(28 * day + hour);
  return sub;
}

const hoursOfCharges = (sub: Sketch) => sub.charges.slice(1).map(({ at }) => (at.getTime() - renewal) / hour);

describe('a dunning policy', () => {
  it('is the account\'s where the subscription has none, and its own where it has one', () => {
    const account = policy({ retryHours: [12, 48] });
    const inherited = dunned(null, declines(3), account);
    inherited.pass(5 * day);
    expect(hoursOfCharges(inherited)).toEqual([0, 12, 48]);
    const own = dunned(policy({ retryHours: [1, 2, 3] }), declines(4), account);
    own.pass(5 * day);
    expect(hoursOfCharges(own)).toEqual([0, 1, 2, 3]);
    expect(own.s.status).toBe('cancelled');
  });

  it('stays with the run that it began, and the next run takes what holds then', () => {
    const sub = dunned(null, declines(2), policy({ retryHours: [24, 240] }));
    sub.world.rules = { dunningPolicy: policy({ retryHours: [48], finalAction: 'pause' }) };
    sub.command(update({ dunningPolicy: policy({ retryHours: [2], finalAction: 'leave_unpaid' }) }));
    sub.pass(11 * day);
    expect(hoursOfCharges(sub)).toEqual([0, 24, 240]);
    expect(stateOf(sub.s)).toBe('active/current');
    sub.world.outcomes = declines(2);
    sub.pass(31 * day);
    expect(stateOf(sub.s)).toBe('active/unpaid');
  });

  it.each([
    ['cancel' as const, 'cancelled', 'uncollectible', 'canceled'],
    ['pause' as const, 'paused/past_due', 'past_due', 'paused'],
    ['leave_unpaid' as const, 'active/unpaid', 'past_due', 'unpaid'],
  ])('ends with %s', (finalAction, state, invoice, event) => {
    const sub = dunned(policy({ retryHours: [6], finalAction }), declines(2));
    sub.pass(day);
    expect(stateOf(sub.s)).toBe(state);
    expect(sub.invoices[1]!.status).toBe(invoice);
    expect(sub.events.slice(sub.events.indexOf('past_due'))).toEqual(['past_due', 'dunning_started', 'dunning_ended', event]);
    expect(sub.emails).toEqual(['payment_failed', 'payment_failed']);
  });

  it('may go on after the last retry, and may have no retry at all', () => {
    const waits = dunned(policy({ retryHours: [6], endsAfterHours: 100 }), declines(2));
    waits.pass(80 * hour);
    expect(stateOf(waits.s)).toBe('active/past_due');
    waits.pass(20 * hour);
    expect(waits.s.status).toBe('cancelled');
    expect(waits.charges).toHaveLength(3);
    const none = dunned(policy({ retryHours: [] }), declines(1));
    expect(none.s.status).toBe('cancelled');
    expect(none.events).toEqual(expect.arrayContaining(['past_due', 'dunning_started', 'dunning_ended', 'canceled']));
    expect(none.charges).toHaveLength(2);
  });

  it('stops at a hard decline until the method changes, and keeps its final date', () => {
    const sub = dunned(policy({ retryHours: [24, 72, 120] }), declines(1, 'hard_decline'));
    expect(sub.s.dunning).toMatchObject({ blocked: 'hard_decline', failures: 1 });
    expect(nextDue(sub.s)).toEqual({ kind: 'dunning_end', at: new Date(renewal + 120 * hour) });
    sub.world.method = 'another';
    sub.pass(0);
    expect(hoursOfCharges(sub)).toHaveLength(2);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.events.slice(-3)).toEqual(['dunning_retry_scheduled', 'dunning_recovered', 'updated']);
  });

  it('asks the customer to act where the bank wants them, once', () => {
    const sub = dunned(policy(), declines(1, 'authentication_required'));
    sub.pass(10 * day);
    expect(sub.emails).toEqual(['action_needed']);
    expect(sub.charges).toHaveLength(2);
    sub.pay('invoice-2');
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.events).toContain('dunning_recovered');
  });

  it('is suspended by a pause, with the rest of its time', () => {
    const sub = dunned(policy({ retryHours: [24, 48] }), declines(3));
    sub.command(pause());
    sub.pass(20 * day);
    sub.command(resume);
    sub.pass(23 * hour + 60_000);
    expect(sub.charges).toHaveLength(3);
    sub.pass(day);
    expect(sub.s.status).toBe('cancelled');
  });

  it('is refused where its times do not rise, or it would end before its last retry', () => {
    expect(() => checkDunningPolicy(policy({ retryHours: [6, 6] }))).toThrow('retry_hours');
    expect(() => checkDunningPolicy(policy({ reminderHours: [24, -24] }))).toThrow('reminder_hours');
    expect(() => checkDunningPolicy(policy({ endsAfterHours: 335 }))).toThrow('ends_after_hours');
    expect(() => checkDunningPolicy(policy({ retryHours: [], endsAfterHours: 1 }))).not.toThrow();
  });
});

describe('the announcement of a renewal', () => {
  const announcedAt = (sub: Sketch) => sub.announced.map(({ at }) => iso(at));

  it('comes once per period, three days before, with the next invoice', () => {
    const sub = begin();
    sub.pass(60 * day);
    expect(sub.announced).toEqual([
      { at: new Date('2027-02-25T12:00:00.000Z'), totalAtom: 3_100 },
      { at: new Date('2027-03-28T12:00:00.000Z'), totalAtom: 3_100 },
    ]);
  });

  it('comes as early as the account had it when the period began', () => {
    const sub = begin({}, { rules: { upcomingDays: 10 } });
    sub.world.rules = { upcomingDays: 1 };
    sub.pass(60 * day);
    expect(announcedAt(sub)).toEqual(['2027-02-18T12:00:00', '2027-03-30T12:00:00']);
  });

  it.each([
    ['it is switched off', {}, { upcomingDays: 0 }],
    ['the period is not longer than the notice', { billingInterval: 'day' as const, billingIntervalCount: 3 }, {}],
    ['it ends there', { cancelAtEnd: true }, {}],
    ['it was the last cycle', { totalBillingCycles: 1 }, {}],
    ['its payment is left unpaid', { dunningPolicy: policy({ retryHours: [1], finalAction: 'leave_unpaid' as const }) }, {}],
  ])('does not come where %s', (_, input, rules) => {
    const outcomes: OutcomeClass[] = input && 'dunningPolicy' in input ? ['approved', ...declines(2)] : [];
    const sub = begin(input, { outcomes, rules });
    sub.pass(27 * day);
    const before = sub.announced.length;
    sub.pass(40 * day);
    expect(sub.announced.length - before).toBe(0);
  });

  it('does not come where it pauses there, nor once the renewal itself is late', () => {
    const pausing = begin();
    pausing.command(pause({ cycles: 1 }));
    pausing.pass(29 * day);
    expect(pausing.announced).toEqual([]);
    const late = begin();
    late.world.now = new Date('2027-03-05T00:00:00.000Z');
    late.pass(0);
    expect(late.announced).toEqual([]);
    expect(late.invoices).toHaveLength(2);
  });

  it('is made up for where it is only itself late', () => {
    const sub = begin();
    sub.world.now = new Date('2027-02-27T00:00:00.000Z');
    sub.pass(5 * day);
    expect(announcedAt(sub)).toEqual(['2027-02-27T00:00:00']);
  });
});

describe('reminders of an invoice', () => {
  const byInvoice = { collectionMethod: 'send_invoice' as const, netD: 10 };
  const days = (sub: Sketch) => sub.reminders.map(({ at, invoiceId }) => [invoiceId, (at.getTime() - start.getTime()) / day]);

  it('come before and after the due date, by policy, until it is paid', () => {
    const sub = begin(byInvoice, { method: null });
    sub.pass(12 * day);
    expect(days(sub)).toEqual([['invoice-1', 7], ['invoice-1', 11]]);
    expect(sub.emails).toEqual(['reminder', 'reminder']);
    expect(stateOf(sub.s)).toBe('active/past_due');
    sub.pay('invoice-1');
    sub.pass(10 * day);
    expect(sub.reminders).toHaveLength(2);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('end with the final action of the policy', () => {
    const dunningPolicy = policy({ reminderHours: [24, 48, 72], retryHours: [], endsAfterHours: 60, finalAction: 'leave_unpaid' });
    const sub = begin({ ...byInvoice, dunningPolicy }, { method: null });
    sub.pass(20 * day);
    expect(days(sub)).toEqual([['invoice-1', 11], ['invoice-1', 12]]);
    expect(stateOf(sub.s)).toBe('active/unpaid');
    expect(sub.events).toEqual(expect.arrayContaining(['past_due', 'dunning_started', 'dunning_ended', 'unpaid']));
  });

  it('are not sent where their time was before the invoice, and are not made up for one by one', () => {
    const short = begin({ ...byInvoice, netD: 1, dunningPolicy: policy({ reminderHours: [-72, 24] }) }, { method: null });
    short.pass(3 * day);
    expect(days(short)).toEqual([['invoice-1', 2]]);
    const late = begin({ ...byInvoice, dunningPolicy: policy({ reminderHours: [-72, -48, 24], endsAfterHours: 400 }) }, { method: null });
    late.world.now = new Date(start.getTime() + 9 * day);
    late.pass(3 * day);
    expect(days(late)).toEqual([['invoice-1', 9], ['invoice-1', 11]]);
  });

  it('are of each open invoice, and there are none for one that is charged', () => {
    const sub = begin({ ...byInvoice, billingInterval: 'week', dunningPolicy: policy({ endsAfterHours: 1_000 }) }, { method: null });
    sub.pass(15 * day);
    expect(days(sub)).toEqual([['invoice-1', 7], ['invoice-1', 11], ['invoice-2', 14]]);
    const charged = begin({}, { outcomes: ['approved', ...declines(9)] });
    charged.pass(40 * day);
    expect(charged.reminders).toEqual([]);
  });
});
