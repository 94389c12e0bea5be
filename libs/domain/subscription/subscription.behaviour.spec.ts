import { defaultDunningPolicy, finalActions } from './dunning-policy.js';
import fc from 'fast-check';
import { DomainError } from '../../errors/domain-error.js';
import type { OutcomeClass } from '../payment/outcome.js';
import { planCancel } from './cancel-subscription.js';
import { planPause } from './pause-subscription.js';
import { stateOf, type State } from './subscription.machine.js';
import { nextDue } from './subscription.schedule.js';
import { Sketch, begin, cancel, day, hour, iso, noCancelOptions, pause, resume, start, update, world } from './subscription.sketch.js';

describe('starting', () => {
  it('is active and current once the first payment succeeds', () => {
    const sub = begin();
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.events).toEqual(['created', 'activated']);
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-02-28T12:00:00');
  });

  it('needs a payment method when money is due now, and none when nothing is', () => {
    expect(() => begin({}, { method: null })).toThrow(expect.objectContaining({ code: 'payment_method_required' }));
    expect(stateOf(begin({}, { method: null, price: 0 }).s)).toBe('active/current');
  });

  it('stays incomplete after a decline, tries once more at 6 h, and ends at 23 h with a void invoice', () => {
    const sub = begin({}, { outcomes: ['soft_decline', 'soft_decline'] });
    expect(stateOf(sub.s)).toBe('trialing/incomplete');
    sub.pass(22 * hour);
    expect(sub.charges.map(({ at }) => at.getTime() - start.getTime())).toEqual([0, 6 * hour]);
    expect(stateOf(sub.s)).toBe('trialing/incomplete');
    sub.pass(hour);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices[0]!.status).toBe('void');
  });

  it('tells the customer of a first payment that failed while nobody waited for it', () => {
    const declined = begin({}, { outcomes: ['soft_decline', 'soft_decline'] });
    expect(declined.emails).toEqual([]);
    declined.pass(6 * hour);
    expect(declined.emails).toEqual(['payment_failed']);
    declined.pass(day);
    expect(declined.emails).toEqual(['payment_failed']);
    const challenged = begin({}, { outcomes: ['soft_decline', 'authentication_required'] });
    challenged.pass(day);
    expect(challenged.emails).toEqual(['action_needed']);
  });

  it('tells the customer of each failure where the start was put off, also without a method', () => {
    const startsAt = new Date(start.getTime() + day);
    const declined = begin({ startsAt }, { outcomes: ['soft_decline', 'soft_decline'] });
    declined.pass(2 * day);
    expect(declined.emails).toEqual(['payment_failed', 'payment_failed']);
    const without = begin({ startsAt }, { method: null });
    without.pass(day);
    expect(stateOf(without.s)).toBe('trialing/incomplete');
    expect(without.emails).toEqual(['payment_failed']);
    without.world.method = 'another';
    without.pass(0);
    expect(stateOf(without.s)).toBe('active/current');
  });

  it('waits with the 23 h limit while the attempt is unresolved', () => {
    const sub = begin({}, { outcomes: ['unresolved'] });
    sub.pass(30 * hour);
    expect(stateOf(sub.s)).toBe('trialing/incomplete');
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('runs a trial, warns three days before its end, and bills from its end whenever the money arrives', () => {
    const sub = begin({ trialDays: 14 }, { outcomes: ['unresolved'] });
    sub.pass(11 * day);
    expect(sub.events).toEqual(['created', 'trialing', 'trial_will_end']);
    sub.pass(4 * day);
    expect(stateOf(sub.s)).toBe('trialing/current');
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(iso(sub.s.currentPeriodStart)).toBe('2027-02-14T12:00:00');
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-03-14T12:00:00');
  });

  it.each([
    ['pause' as const, 'paused/incomplete'],
    ['cancel' as const, 'cancelled'],
  ])('without a method at the trial\'s end: %s', (missingPaymentMethod, state) => {
    const sub = begin({ trialDays: 1, missingPaymentMethod }, { method: null });
    sub.pass(2 * day);
    expect(stateOf(sub.s)).toBe(state);
    expect(sub.invoices).toEqual([]);
  });

  it('begins dunning when the first payment after a trial fails', () => {
    const sub = begin({ trialDays: 1 }, { outcomes: ['insufficient_funds'] });
    sub.pass(day);
    expect(stateOf(sub.s)).toBe('active/past_due');
    expect(sub.events).toContain('past_due');
  });

  it('is scheduled until a future start', () => {
    const sub = begin({ startsAt: new Date(start.getTime() + day) });
    expect(stateOf(sub.s)).toBe('trialing/scheduled');
    sub.pass(day);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(iso(sub.s.currentPeriodStart)).toBe('2027-02-01T12:00:00');
  });

  it('takes only the anchor from a past start and prorates to the next anchor date', () => {
    const sub = begin({ startsAt: new Date('2026-11-15T12:00:00Z') });
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-02-15T12:00:00');
    expect(sub.invoices[0]!.totalAtom).toBe(1_500);
    sub.pass(20 * day);
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-03-15T12:00:00');
    expect(sub.invoices[1]!.totalAtom).toBe(3_100);
  });

  it('collects by invoice without charging, and is past due after the due date', () => {
    const sub = begin({ collectionMethod: 'send_invoice', netD: 7 }, { method: null });
    expect(stateOf(sub.s)).toBe('active/current');
    sub.pass(8 * day);
    expect(stateOf(sub.s)).toBe('active/past_due');
    expect(sub.charges).toEqual([]);
  });
});

describe('renewing and dunning', () => {
  it('keeps the anchor over short months', () => {
    const sub = begin();
    sub.pass(150 * day);
    expect(sub.invoices.map(({ periodStart }) => iso(periodStart)?.slice(5, 10))).toEqual(['01-31', '02-28', '03-31', '04-30', '05-31', '06-30'].slice(0, sub.invoices.length));
    expect(sub.charges[1]!.at.getTime()).toBe(new Date('2027-02-28T12:00:30Z').getTime());
  });

  it('retries by the schedule after the first failure, then cancels and writes the invoice off', () => {
    const sub = begin({}, { outcomes: ['approved', ...Array<OutcomeClass>(8).fill('soft_decline')] });
    sub.pass(28 * day + hour);
    expect(stateOf(sub.s)).toBe('active/past_due');
    sub.pass(15 * day);
    const failed = sub.charges[1]!.at.getTime();
    expect(sub.charges.slice(2).map(({ at }) => (at.getTime() - failed) / hour)).toEqual([6, 24, 72, 120, 168, 240, 336]);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices.at(-1)!.status).toBe('uncollectible');
  });

  it('is current again when a retry is paid', () => {
    const sub = begin({}, { outcomes: ['approved', 'soft_decline'] });
    sub.pass(29 * day);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('stops retrying after a hard decline and asks a new method at once', () => {
    const sub = begin({}, { outcomes: ['approved', 'hard_decline'] });
    sub.pass(31 * day);
    expect(sub.charges).toHaveLength(2);
    sub.world.method = 'another';
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it.each([
    ['pause' as const, 'paused/past_due'],
    ['leave_unpaid' as const, 'active/unpaid'],
  ])('ends dunning by policy: %s', (finalAction, state) => {
    const sub = begin({ dunningPolicy: { ...defaultDunningPolicy, finalAction } }, { outcomes: ['approved', ...Array<OutcomeClass>(8).fill('soft_decline')] });
    sub.pass(43 * day);
    expect(stateOf(sub.s)).toBe(state);
    expect(sub.invoices.at(-1)!.status).toBe('past_due');
    if (state === 'active/unpaid') {
      sub.pass(20 * day);
      expect(sub.invoices.at(-1)!.status).toBe('draft');
      expect(sub.charges).toHaveLength(9);
    } else {
      sub.command(resume);
      sub.pass(0);
      expect(stateOf(sub.s)).toBe('active/current');
    }
  });

  it('does nothing by time while an outcome is unknown', () => {
    const sub = begin({}, { outcomes: ['approved', 'unresolved'] });
    sub.pass(28 * day + hour);
    sub.command(update({ cancelAtEnd: true }));
    sub.pass(60 * day);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.charges).toHaveLength(2);
    sub.answer('approved');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('cancelled');
  });

  it('invoices each missed period once and charges one a day', () => {
    const sub = begin({ billingInterval: 'day' });
    sub.world.now = new Date(start.getTime() + 5 * day + hour * 2);
    const late = sub.world.now.getTime();
    sub.pass(1_000);
    expect(sub.invoices).toHaveLength(6);
    expect(sub.charges.filter(({ at }) => at.getTime() >= late)).toHaveLength(1);
    sub.pass(day);
    expect(sub.charges.filter(({ at }) => at.getTime() >= late)).toHaveLength(2);
  });

  it('ends after the agreed number of cycles', () => {
    const sub = begin({ totalBillingCycles: 2 });
    sub.pass(90 * day);
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices).toHaveLength(2);
  });
});

describe('pausing and resuming', () => {
  it('keeps the seconds that are left and moves period end and anchor', () => {
    const sub = begin();
    sub.pass(10 * day);
    const left = sub.s.currentPeriodEnd.getTime() - sub.world.now.getTime();
    sub.command(pause());
    sub.pass(100 * day);
    expect(sub.invoices).toHaveLength(1);
    sub.command(resume);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(sub.s.currentPeriodEnd.getTime() - sub.world.now.getTime()).toBe(left);
    expect(sub.s.anchorAt).toEqual(sub.s.currentPeriodEnd);
    expect(sub.events.slice(-2)).toEqual(['paused', 'resumed']);
  });

  it('gives a paused trial its remaining time back', () => {
    const sub = begin({ trialDays: 10 });
    sub.pass(4 * day);
    sub.command(pause({ resumesAt: new Date(sub.world.now.getTime() + 2 * day) }));
    sub.pass(2 * day);
    expect(stateOf(sub.s)).toBe('trialing/current');
    expect(iso(sub.s.trialEnd)).toBe('2027-02-12T12:00:00');
  });

  it('suspends dunning and goes on where it stood', () => {
    const sub = begin({}, { outcomes: ['approved', 'soft_decline'] });
    sub.pass(28 * day + hour);
    sub.command(pause());
    sub.pass(3 * day);
    expect(sub.charges).toHaveLength(2);
    sub.command(resume);
    expect(stateOf(sub.s)).toBe('active/past_due');
    sub.pass(6 * hour);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('skips cycles from the period\'s end, keeps the anchor and no time', () => {
    const sub = begin();
    sub.command(pause({ cycles: 2 }));
    expect(stateOf(sub.s)).toBe('active/current');
    sub.pass(28 * day);
    expect(stateOf(sub.s)).toBe('paused/current');
    expect(iso(sub.s.resumesAt)).toBe('2027-04-30T12:00:00');
    sub.pass(63 * day);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(iso(sub.s.currentPeriodStart)).toBe('2027-04-30T12:00:00');
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-05-31T12:00:00');
  });

  it('stays paused until a resume with money due is paid', () => {
    const sub = begin({ trialDays: 1 }, { method: null, outcomes: ['hard_decline'] });
    sub.pass(2 * day);
    expect(() => sub.command(resume)).toThrow(expect.objectContaining({ code: 'payment_method_required_to_resume' }));
    sub.world.method = 'bad';
    sub.command(resume);
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('paused/incomplete');
    expect(sub.events.at(-1)).toBe('resume_failed');
    sub.world.method = 'good';
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('tries an automatic resume without a method again when one is set', () => {
    const sub = begin();
    sub.command(pause({ cycles: 1 }));
    sub.world.method = null;
    sub.pass(70 * day);
    expect(stateOf(sub.s)).toBe('paused/current');
    expect(sub.events.at(-1)).toBe('resume_failed');
    sub.world.method = 'new';
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('active/current');
  });

  it('changes only the date when paused again, and nothing when nothing changes', () => {
    const sub = begin();
    sub.command(pause());
    const before = sub.s;
    const at = new Date(start.getTime() + day);
    sub.command(pause({ resumesAt: at }));
    expect({ ...sub.s, resumesAt: null }).toEqual(before);
    expect(planPause(sub.s, { resumesAt: at }, sub.facts())).toBeNull();
    for (const bad of [{ cycles: 1, resumesAt: at }, { cycles: 0 }, { resumesAt: start }]) {
      expect(() => planPause(sub.s, bad, { ...sub.facts(), now: new Date(start.getTime() + hour) })).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      );
    }
    expect(() => sub.command(pause({ cycles: 2 }))).toThrow(expect.objectContaining({ code: 'invalid_state_transition' }));
  });

  it('refuses a pause while the first payment is open', () => {
    const sub = begin({}, { outcomes: ['soft_decline'] });
    expect(() => sub.command(pause())).toThrow(expect.objectContaining({ code: 'invalid_state_transition' }));
  });

  it('lets an attempt in flight finish and count', () => {
    const sub = begin({}, { outcomes: ['approved', 'unresolved'] });
    sub.pass(28 * day + hour);
    sub.command(pause());
    sub.answer('soft_decline');
    sub.pass(0);
    expect(stateOf(sub.s)).toBe('paused/past_due');
  });
});

describe('cancelling', () => {
  it('credits the unused paid seconds only', () => {
    const sub = begin();
    sub.pass(14 * day - 1_000);
    sub.command(cancel());
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.credit).toBe(1_550);
    expect(nextDue(sub.s)).toBeNull();
  });

  it('refunds the period instead, if asked', () => {
    const sub = begin();
    const plan = planCancel(sub.s, { ...noCancelOptions, fullRefund: true }, sub.facts());
    expect(plan).toMatchObject({ creditAtom: 0, refunds: [{ amountAtom: 3_100 }] });
  });

  it('waits for an unresolved payment and then applies the same options', () => {
    const sub = begin({}, { outcomes: ['approved', 'unresolved'] });
    sub.pass(28 * day + hour);
    sub.command(cancel({ cancelUnpaidInvoices: true }));
    expect(stateOf(sub.s)).toBe('cancelled');
    expect(sub.invoices.at(-1)!.status).toBe('open');
    sub.answer('soft_decline');
    sub.pass(0);
    expect(sub.invoices.at(-1)!.status).toBe('void');
    expect(sub.s.chargingInvoiceId).toBeNull();
  });

  it('at period end: can be taken back, clears a pause there, is refused while paused, survives a pause', () => {
    const sub = begin();
    sub.command(pause({ cycles: 1 }));
    sub.command(update({ cancelAtEnd: true }));
    expect(sub.s).toMatchObject({ cancelAtEnd: true, pauseAtEnd: false, pauseForCycles: null, resumesAt: null });
    sub.command(update({ cancelAtEnd: false }));
    expect(sub.s.cancelAtEnd).toBe(false);
    sub.command(update({ cancelAtEnd: true }));
    sub.command(pause());
    expect(() => sub.command(update({ cancelAtEnd: false }))).toThrow(expect.objectContaining({ code: 'invalid_state_transition' }));
    sub.pass(50 * day);
    sub.command(resume);
    sub.pass(27 * day);
    expect(stateOf(sub.s)).toBe('active/current');
    sub.pass(2 * day);
    expect(stateOf(sub.s)).toBe('cancelled');
  });
});

type Act =
  | { wait: number }
  | { act: 'pause' | 'cycles' | 'resume' | 'cancel' | 'at_end' | 'not_at_end' | 'end_trial' }
  | { method: string | null }
  | { answer: OutcomeClass }
  | { hand: 'pay' | 'void' }
  | { resumesIn: number };

const outcomes = fc.constantFrom<OutcomeClass | 'unresolved'>('approved', 'approved', 'soft_decline', 'hard_decline', 'authentication_required', 'unresolved');
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ wait: fc.oneof(fc.integer({ min: 0, max: 8 * hour }), fc.integer({ min: 0, max: 20 * day })) }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('pause' as const, 'cycles' as const, 'resume' as const, 'resume' as const, 'at_end' as const, 'not_at_end' as const, 'end_trial' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const) }) },
  { weight: 2, arbitrary: fc.record({ method: fc.constantFrom('a', 'b', null) }) },
  { weight: 2, arbitrary: fc.record({ answer: fc.constantFrom<OutcomeClass>('approved', 'soft_decline', 'hard_decline') }) },
  { weight: 2, arbitrary: fc.record({ hand: fc.constantFrom('pay' as const, 'void' as const) }) },
  { weight: 1, arbitrary: fc.record({ resumesIn: fc.integer({ min: 1, max: 20 * day }) }) },
);

function perform(sub: Sketch, act: Act): void {
  if ('wait' in act) return sub.pass(act.wait);
  if ('method' in act) return void (sub.world.method = act.method);
  if ('answer' in act) return sub.answer(act.answer);
  if ('resumesIn' in act) return sub.command(pause({ resumesAt: new Date(sub.world.now.getTime() + act.resumesIn) }));
  if ('hand' in act) return byHand(sub, act.hand);
  const commands = { pause: pause(), cycles: pause({ cycles: 1 }), resume, cancel: cancel({ cancelUnpaidInvoices: true }), at_end: update({ cancelAtEnd: true }), not_at_end: update({ cancelAtEnd: false }), end_trial: update({ trialEnd: 'now' }) };
  sub.command(commands[act.act]);
}

function byHand(sub: Sketch, does: 'pay' | 'void'): void {
  const open = sub.facts().openInvoices.find(({ payment }) => payment !== 'unresolved');
  sub.world.now = new Date(sub.world.now.getTime() + 1_000);
  if (open && does === 'pay') sub.pay(open.id);
  else if (open) open.status = 'void';
}

describe('any history', () => {
  const visited = new Set<State>();

  it('stays in the table, rests at any moment, bills no period twice, and ends once', () => {
    fc.assert(
      fc.property(
        fc.record({
          collectionMethod: fc.constantFrom('charge_automatically' as const, 'charge_automatically' as const, 'send_invoice' as const),
          trialDays: fc.constantFrom(0, 0, 5),
          startsIn: fc.constantFrom(null, -10 * day, 3 * day),
          dunningPolicy: fc.constantFrom(...finalActions).map((finalAction) => ({ ...defaultDunningPolicy, finalAction })),
        }),
        fc.array(outcomes, { maxLength: 12 }),
        fc.array(acts, { minLength: 4, maxLength: 25 }),
        ({ startsIn, ...input }, answers, script) => {
          const startsAt = startsIn === null ? null : new Date(start.getTime() + startsIn);
          const sub = new Sketch(world({ outcomes: [...answers] }), { ...input, startsAt });
          for (const act of script) {
            try {
              perform(sub, act);
            } catch (error) {
              if (!(error instanceof DomainError)) throw error;
            }
          }
          sub.pass(0);
          for (const state of sub.visited) visited.add(state);
          expect(sub.events.filter((event) => event === 'canceled').length).toBe(sub.s.status === 'cancelled' ? 1 : 0);
          expect((sub.s.status === 'cancelled') === (sub.s.billingStatus === null)).toBe(true);
        },
      ),
      { numRuns: 1_500, seed: 11 },
    );
  });

  it('reaches all states', () => {
    expect(visited.size).toBe(12);
  });
});
