import fc from 'fast-check';
import { fallbackClasses } from '../route/route.document.js';
import { blockOf } from '../subscription/dunning.js';
import { outcomeClasses } from './outcome.js';
import { mayTryElsewhere, outcomeRules } from './outcome.rules.js';
import { initialIntentStatuses, intentMoves, intentTable, moveIntent } from './payment.machine.js';
import { addBusinessDays, lookupOffsets, nextLookupDelay, resendDeadline } from './payment.schedule.js';
import { nextStep, type PaymentState } from './payment.steps.js';
import { chargeStatuses, intentStatuses } from './payment-status.js';
import { schemeBlock } from './scheme-limit.js';

describe('the table of payment intents', () => {
  it('is closed, and every status can be reached', () => {
    const reached = new Set(initialIntentStatuses);
    for (let size = -1; size !== reached.size; ) {
      size = reached.size;
      for (const from of [...reached]) for (const to of Object.values(intentTable[from])) reached.add(to);
    }
    expect([...reached].sort()).toEqual([...intentStatuses].sort());
    for (const moves of Object.values(intentTable)) for (const move of Object.keys(moves)) expect(intentMoves).toContain(move);
  });

  it('never leaves succeeded or canceled', () => {
    for (const move of intentMoves) {
      expect(moveIntent('succeeded', move)).toBeNull();
      expect(moveIntent('canceled', move)).toBeNull();
    }
  });
});

describe('what may follow an outcome', () => {
  const policy = { on: [...fallbackClasses], max_attempts: 3 };

  it('is another connection never after an outcome that may have taken money', () => {
    for (const outcomeClass of ['approved', 'pending', 'unknown', 'mismatch', 'hard_decline', 'risk_refused', 'insufficient_funds'] as const) {
      expect(mayTryElsewhere({ outcomeClass }, policy, 1)).toBe(false);
    }
  });

  it('is no other connection once the scheme forbids the card, or after a code that is in no table', () => {
    for (const outcomeClass of outcomeClasses) {
      expect(mayTryElsewhere({ outcomeClass, retryAdvice: 'never' }, policy, 1)).toBe(false);
      expect(mayTryElsewhere({ outcomeClass, declineCode: 'generic_decline' }, policy, 1)).toBe(false);
    }
    expect(mayTryElsewhere({ outcomeClass: 'soft_decline', declineCode: 'do_not_honor', retryAdvice: 'later' }, policy, 1)).toBe(true);
  });

  it('is another connection only by policy, up to its number of attempts', () => {
    fc.assert(
      fc.property(fc.constantFrom(...outcomeClasses), fc.subarray([...fallbackClasses]), fc.integer({ min: 1, max: 5 }), (outcomeClass, on, attempts) => {
        if (!mayTryElsewhere({ outcomeClass }, { on, max_attempts: 3 }, attempts)) return;
        expect(on).toContain(outcomeClass);
        expect(attempts).toBeLessThan(3);
        expect(outcomeRules[outcomeClass].charge === 'failed' || outcomeClass === 'action_required').toBe(true);
      }),
    );
  });
});

describe('what an unattended payment does later', () => {
  const expected = {
    nothing: ['risk_refused', null], resolve: [null], dunning: [null], new_method: ['hard_decline'], customer: ['authentication_required'],
  } as const;

  it.each(outcomeClasses)('after %s is what dunning does', (outcomeClass) => {
    expect(expected[outcomeRules[outcomeClass].later]).toContain(blockOf(outcomeClass));
  });

  it('is nothing at all where the provider\'s fraud engine refused', () => {
    expect(blockOf('risk_refused')).toBe('risk_refused');
  });
});

describe('the next step', () => {
  const time = fc.option(fc.integer({ min: 0, max: 2_000 }));
  const state: fc.Arbitrary<PaymentState> = fc.record({
    status: fc.constantFrom(...intentStatuses),
    windowEndsAt: time,
    charges: fc.array(
      fc.record({ id: fc.uuid(), status: fc.constantFrom(...chargeStatuses), outcomeClass: fc.option(fc.constantFrom(...outcomeClasses)), nextLookupAt: time }),
      { maxLength: 3 },
    ),
    operations: fc.array(fc.record({ id: fc.uuid(), status: fc.constantFrom(...chargeStatuses), sent: fc.boolean(), nextLookupAt: time }), { maxLength: 2 }),
  });

  it('begins an attempt only while nothing is unresolved', () => {
    fc.assert(
      fc.property(state, fc.integer({ min: 0, max: 2_000 }), (payment, now) => {
        const step = nextStep(payment, now);
        if (step.kind !== 'begin_attempt') return;
        expect(payment.status).toBe('processing');
        expect([...payment.charges, ...payment.operations].every((each) => each.status !== 'pending')).toBe(true);
      }),
    );
  });

  it('is done only when no operation and, but for an exception, no attempt is unresolved', () => {
    fc.assert(
      fc.property(state, fc.integer({ min: 0, max: 2_000 }), (payment, now) => {
        if (nextStep(payment, now).kind !== 'done') return;
        expect(payment.operations.every((each) => each.status !== 'pending')).toBe(true);
        if (payment.status !== 'exception') expect(payment.charges.every((each) => each.status !== 'pending')).toBe(true);
        expect(['processing', 'requires_capture']).not.toContain(payment.status);
      }),
    );
  });

  it('waits into the future only', () => {
    fc.assert(
      fc.property(state, fc.integer({ min: 0, max: 2_000 }), (payment, now) => {
        const step = nextStep(payment, now);
        if (step.kind === 'wait' && step.until !== null) expect(step.until).toBeGreaterThan(now);
      }),
    );
  });
});

describe('schedules', () => {
  it('look up after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h', () => {
    let at = 0;
    const moments = lookupOffsets.map((_, done) => (at += nextLookupDelay(done)!) / 1_000);
    expect(moments).toEqual([5, 30, 120, 600, 3_600, 21_600, 86_400]);
    expect(nextLookupDelay(lookupOffsets.length)).toBeNull();
  });

  it('repeat the identical request until an hour before the window ends, or never', () => {
    expect(resendDeadline(0, 24 * 3_600_000)).toBe(23 * 3_600_000);
    expect(resendDeadline(0, null)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('count business days over a weekend', () => {
    const friday = Date.parse('2026-11-20T10:00:00Z');
    expect(new Date(addBusinessDays(friday, 1)).toISOString()).toBe('2026-11-23T10:00:00.000Z');
    expect(new Date(addBusinessDays(friday, 10)).toISOString()).toBe('2026-12-04T10:00:00.000Z');
  });

  it.each([
    ['visa', { day: 19, month: 19, never: false }, null],
    ['Visa', { day: 0, month: 20, never: false }, 'scheme_limit'],
    ['mastercard', { day: 9, month: 34, never: false }, null],
    ['mastercard', { day: 10, month: 10, never: false }, 'scheme_limit'],
    ['mastercard', { day: 0, month: 35, never: false }, 'scheme_limit'],
    ['amex', { day: 99, month: 99, never: false }, null],
    [null, { day: 99, month: 99, never: false }, null],
    ['visa', { day: 0, month: 0, never: true }, 'never_again'],
    ['amex', { day: 0, month: 0, never: true }, 'never_again'],
    [null, { day: 0, month: 0, never: true }, 'never_again'],
  ])('hold the schemes\' limits: %s after %j is %s', (brand, count, block) => {
    expect(schemeBlock(brand, count)).toBe(block);
  });
});
