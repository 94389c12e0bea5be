import fc from 'fast-check';
import { DomainError } from '../../errors/domain-error.js';
import type { Act, Beginning } from './model/model.act.js';
import { day } from './model/model.calendar.js';
import { beginnings, histories } from './subscription.histories.js';
import { RealSubscription } from './subscription.real.js';

const runs = Number(process.env.SIGNALBOX_MODEL_RUNS ?? 400);

function lived(from: Beginning, history: Act[], sleeps: boolean): RealSubscription | null {
  try {
    const real = new RealSubscription(from);
    for (const act of history) {
      if (sleeps && act.does === 'wait') real.leap(act.ms);
      else real.perform(act);
    }
    return real;
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** Each payment succeeds from now on, and somebody pays by hand what nothing asks for. */
function heal(real: RealSubscription): void {
  real.heal();
  real.perform({ does: 'answer', outcome: 'approved' });
  real.perform({ does: 'method', method: 'good' });
}

function payByHand(real: RealSubscription): void {
  for (let owed = real.owed().length; owed > 0; owed -= 1) real.perform({ does: 'byHand', which: 0, to: 'paid' });
}

function expectPeriodsInOrder(real: RealSubscription): void {
  const periods = real.invoices.filter(({ status, beginsPeriod }) => status !== 'void' && beginsPeriod);
  for (const [n, invoice] of periods.entries()) {
    expect(invoice.periodEnd.getTime()).toBeGreaterThan(invoice.periodStart.getTime());
    const before = periods[n - 1];
    const cutsShort = invoice.billingReason === 'subscription_update';
    if (before) expect(invoice.periodStart.getTime()).toBeGreaterThanOrEqual((cutsShort ? before.periodStart : before.periodEnd).getTime());
  }
}

describe('whatever happened', () => {
  it('goes on once payments succeed again: nothing stays owed, no period is missing, and what waits for a person was told', () => {
    fc.assert(
      fc.property(beginnings, histories, fc.boolean(), (from, history, sleeps) => {
        const real = lived(from, history, sleeps);
        if (!real) return;
        heal(real);
        if (from.byInvoice || real.s.billingStatus === 'unpaid' || real.s.keptTime?.owed) payByHand(real);
        if (real.s.status === 'paused') {
          expect(real.seen().told.some((event) => event === 'paused')).toBe(true);
          expect([null, 'invalid_state_transition']).toContain(real.perform({ does: 'resume', free: false }));
          if (from.byInvoice) payByHand(real);
          expect(real.s.status).not.toBe('paused');
        }
        real.perform({ does: 'wait', ms: 2 * day });
        if (real.s.status === 'cancelled') return expect(real.isAsleep()).toBe(true);
        if (real.s.status === 'paused') return expect(from.byInvoice || real.s.resumesAt !== null).toBe(true);
        expect(real.isAsleep()).toBe(false);
        if (real.s.status === 'active') {
          expect(real.s.currentPeriodStart.getTime()).toBeLessThanOrEqual(real.time);
          expect(real.s.currentPeriodEnd.getTime()).toBeGreaterThan(real.time);
          if (!from.byInvoice) expect(real.s.billingStatus).toBe('current');
          if (!from.byInvoice && real.owed().length > 0) expect(real.s.chargeAt!.getTime()).toBeLessThanOrEqual(real.time + day);
        }
      }),
      { numRuns: runs, seed: 21 },
    );
  });

  it('bills each period once and in order, also after downtime', () => {
    fc.assert(
      fc.property(beginnings, histories, fc.boolean(), (from, history, sleeps) => {
        const real = lived(from, history, sleeps);
        if (real) expectPeriodsInOrder(real);
      }),
      { numRuns: runs, seed: 22 },
    );
  });

  it('takes the price of the time and the quantity that was used, to half an atom for each line', () => {
    const steady = fc.record({
      unit: fc.constantFrom('day' as const, 'week' as const),
      startsIn: fc.constantFrom(null, -3 * day, 2 * day),
      trialDays: fc.constantFrom(0, 3),
      sold: fc.array(fc.record({ unitAtom: fc.integer({ min: 1, max: 20_000 }), quantity: fc.integer({ min: 1, max: 5 }) }), { minLength: 1, maxLength: 2 }),
    });
    const calm = new Set(['wait', 'pause', 'pauseFor', 'pauseCycles', 'resume', 'endTrial', 'moveTrialEnd']);
    const quantities: fc.Arbitrary<Act> = fc.record({
      does: fc.constant('items' as const),
      changes: fc.tuple(fc.record({ kind: fc.constant('change' as const), item: fc.nat(2), quantity: fc.integer({ min: 1, max: 9 }), unitAtom: fc.constant(null), nextPeriod: fc.constant(null), ends: fc.constant(null) })),
      how: fc.constantFrom('create_prorations' as const, 'always_invoice' as const),
    });
    fc.assert(
      fc.property(beginnings, steady, histories, fc.array(quantities, { maxLength: 25 }), (some, { sold, ...kind }, history, changes) => {
        const from: Beginning = { ...some, ...kind, sold, byInvoice: false, method: 'a', balanceAtom: 0, cycles: null, outcomes: [] };
        const acts = history.filter(({ does }) => calm.has(does)).map((act) => (act.does === 'resume' ? { ...act, free: false } : act.does === 'wait' ? { ...act, ms: act.ms % (12 * day) } : act));
        const real = new RealSubscription(from);
        for (const [n, act] of acts.entries()) {
          real.perform(act);
          if (changes[n]) real.perform(changes[n]);
        }
        real.perform({ does: 'wait', ms: 60_000 });
        real.perform({ does: 'cancel', voids: false, refunds: false, prorates: true });
        const whole = (kind.unit === 'day' ? 86_400 : 604_800) * from.count;
        const taken = real.invoices.reduce((sum, { totalAtom }) => sum + totalAtom, 0) - real.credited;
        const off = BigInt(taken) * BigInt(whole) - real.servedWorth / 1000n;
        expect(2n * (off > 0n ? off : -off) <= BigInt(whole) * BigInt(real.lines.all.length + 1)).toBe(true);
        expect(real.lines.pending()).toEqual([]);
      }),
      { numRuns: runs, seed: 23 },
    );
  });
});
