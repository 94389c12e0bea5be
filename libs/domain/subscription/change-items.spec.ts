import fc from 'fast-check';
import { DomainError } from '../../errors/domain-error.js';
import { secondsBetween } from '../period/period.js';
import { planChangeItems } from './change-items.js';
import type { ItemInput, ProrationBehavior } from './item-changes.js';
import type { ItemPrice } from './plan.js';
import { begin, cancel, day, iso, pause, update, type Sketch } from './subscription.sketch.js';
import { stateOf } from './subscription.machine.js';

const month = { unit: 'month', count: 1 } as const;
const year = { unit: 'year', count: 1 } as const;
const priceOf = (priceId: string, unitAmountAtom: number, rest: Partial<ItemPrice> = {}): ItemPrice => ({
  priceId, productId: 'product', name: priceId, unitAmountAtom, pricingModel: 'standard', transformQuantityDivideBy: 1, currency: 'eur', interval: month, ...rest,
});
const prices = [
  priceOf('price', 3_100), priceOf('large', 6_200), priceOf('odd', 997), priceOf('yearly', 36_500, { interval: year }), priceOf('dollars', 3_100, { currency: 'usd' }),
];
const wish = (input: Partial<ItemInput>): ItemInput => ({ path: [], action: 'update', id: 'item', replacementId: 'replacement', ...input });
const changing = (proration: ProrationBehavior, ...items: Partial<ItemInput>[]) => (s: Sketch['s'], facts: ReturnType<Sketch['facts']>) =>
  planChangeItems(s, { items: items.map(wish), proration }, facts);
const shop = (part: Parameters<typeof begin>[1] = {}, input: Parameters<typeof begin>[0] = {}) => begin(input, { prices, ...part });
const linesOf = (sub: Sketch) => sub.lines.all.filter(({ dropped }) => !dropped).map(({ line }) => line.amountAtom);
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof DomainError ? (error.details.errors?.[0]?.loc.slice(1).join('.') ?? error.code) : 'unknown';
  }
  return 'nothing';
};

/** The half of the first period: 31 January 12:00 to 28 February 12:00. */
function atHalf(part: Parameters<typeof begin>[1] = {}): Sketch {
  const sub = shop(part);
  sub.pass(14 * day - 1_000);
  return sub;
}

describe('a change within a period', () => {
  it('gives back the unused part of what was billed and bills the rest anew, with the next invoice', () => {
    const sub = atHalf();
    sub.command(changing('create_prorations', { quantity: 3 }));
    expect(linesOf(sub)).toEqual([3_100, -1_550, 4_650]);
    expect(sub.charges).toHaveLength(1);
    sub.pass(15 * day);
    expect(sub.invoices.at(-1)).toMatchObject({ totalAtom: 9_300 + 3_100, status: 'paid' });
    expect(sub.lines.pending()).toEqual([]);
  });

  it('is invoiced and charged at once, if asked', () => {
    const sub = atHalf();
    sub.command(changing('always_invoice', { priceId: 'large' }));
    sub.rest();
    expect(sub.invoices.map(({ totalAtom, status }) => [totalAtom, status])).toEqual([[3_100, 'paid'], [1_550, 'paid']]);
    expect(sub.charges).toHaveLength(2);
    expect(stateOf(sub.s)).toBe('active/current');
    expect(iso(sub.s.currentPeriodEnd)).toBe('2027-02-28T12:00:00');
  });

  it('stands although its charge fails, and dunning begins', () => {
    const sub = atHalf({ outcomes: ['approved', 'soft_decline'] });
    sub.command(changing('always_invoice', { quantity: 2 }));
    sub.rest();
    expect([stateOf(sub.s), sub.items[0]!.quantity, sub.invoices[1]!.status]).toEqual(['active/past_due', 2, 'past_due']);
  });

  it('credits the balance where more is given back than billed, and no money leaves', () => {
    const sub = atHalf();
    sub.command(changing('always_invoice', { priceId: 'odd' }));
    expect(sub.invoices[1]).toMatchObject({ status: 'paid', dueAtom: 0, totalAtom: -1_052 });
    expect([sub.credit, sub.charges.length, sub.refunded]).toEqual([1_052, 1, 0]);
  });

  it('moves no money with none, and later gives back what was billed only', () => {
    const sub = atHalf();
    sub.command(changing('none', { quantity: 10 }));
    expect(linesOf(sub)).toEqual([3_100]);
    sub.command(changing('create_prorations', { quantity: 1 }));
    expect(linesOf(sub)).toEqual([3_100, -1_550, 1_550]);
  });

  it('adds and removes items, and an item at the period\'s end with the period', () => {
    const sub = atHalf();
    sub.command(changing('create_prorations', { action: 'add', id: 'b', priceId: 'large', quantity: 2 }, { action: 'add', id: 'c', priceId: 'odd', addAtPeriodEnd: true }));
    sub.command(changing('create_prorations', { action: 'remove', dropAtEnd: true }));
    expect(linesOf(sub)).toEqual([3_100, 6_200]);
    expect(sub.items.map(({ id, dropAtEnd = false, addAtPeriodEnd = false }) => [id, dropAtEnd, addAtPeriodEnd])).toEqual([['item', true, false], ['b', false, false], ['c', false, true]]);
    sub.command(changing('create_prorations', { action: 'remove', id: 'b' }));
    sub.pass(15 * day);
    expect(sub.items.map(({ id }) => id)).toEqual(['c']);
    expect(linesOf(sub)).toEqual([3_100, 6_200, -6_200, 997]);
  });

  it('takes back what was to happen at the period\'s end, and tells nothing where nothing changes', () => {
    const sub = atHalf();
    sub.command(changing('none', { action: 'add', id: 'b', priceId: 'odd' }, { action: 'remove', dropAtEnd: true }));
    sub.command(changing('none', { dropAtEnd: false }));
    expect(changing('create_prorations', { dropAtEnd: false, quantity: 1 })(sub.s, sub.facts())).toBeNull();
    sub.pass(15 * day);
    expect(sub.items.map(({ id }) => id)).toEqual(['item', 'b']);
  });
});

describe('another interval', () => {
  it('begins a period now, gives back unused time and bills the whole new one', () => {
    const sub = atHalf();
    sub.command(changing('create_prorations', { priceId: 'yearly' }));
    sub.rest();
    expect(linesOf(sub)).toEqual([3_100, 36_500, -1_550]);
    expect([sub.invoices[1]!.totalAtom, iso(sub.s.currentPeriodStart), iso(sub.s.currentPeriodEnd)]).toEqual([34_950, '2027-02-14T12:00:00', '2028-02-14T12:00:00']);
    expect(sub.charges).toHaveLength(2);
  });

  it('waits for the period\'s end with none, and can be taken back', () => {
    const sub = atHalf();
    sub.command(changing('none', { priceId: 'yearly', quantity: 2 }));
    expect(sub.items.map(({ id, dropAtEnd, addAtPeriodEnd }) => [id, dropAtEnd ?? false, addAtPeriodEnd ?? false])).toEqual([['item', true, false], ['replacement', false, true]]);
    const taken = changing('none', { dropAtEnd: false }, { id: 'replacement', action: 'remove' })(sub.s, sub.facts());
    expect(taken?.items.map(({ kind }) => kind)).toEqual(['updated', 'removed']);
    expect(codeOf(() => changing('none', { dropAtEnd: false })(sub.s, sub.facts()))).toBe('price_id');
    sub.pass(15 * day);
    expect([sub.s.billingInterval, iso(sub.s.currentPeriodEnd), sub.invoices.at(-1)!.totalAtom]).toEqual(['year', '2028-02-28T12:00:00', 73_000]);
  });

  it('changes a trial\'s terms without money', () => {
    const sub = shop({}, { trialDays: 10 });
    sub.command(changing('create_prorations', { priceId: 'yearly' }));
    expect([linesOf(sub), sub.s.billingInterval]).toEqual([[], 'year']);
    sub.pass(11 * day);
    expect([sub.invoices[0]!.totalAtom, iso(sub.s.currentPeriodEnd)]).toEqual([36_500, '2028-02-10T12:00:00']);
  });
});

describe('refusals', () => {
  it('name the field, or what to do', () => {
    const sub = atHalf();
    const refused = (...items: Partial<ItemInput>[]) => codeOf(() => changing('create_prorations', ...items)(sub.s, sub.facts()));
    expect(refused({ action: 'remove' })).toBe('conflict');
    expect(refused({ action: 'remove', dropAtEnd: true })).toBe('conflict');
    expect(refused({ action: 'add', id: 'b', priceId: 'yearly', path: ['items', 0] })).toBe('items.0.price_id');
    expect(refused({ action: 'add', id: 'b', priceId: 'dollars' })).toBe('price_id');
    expect(refused({ quantity: 2, path: ['items', 0] }, { quantity: 3, path: ['items', 1] })).toBe('items.1.id');
    expect(refused({ addAtPeriodEnd: true })).toBe('add_at_period_end');
    expect(refused({ id: 'elsewhere', path: ['items', 0] })).toBe('items.0.id');
  });

  it('while paused unless no money moves, and while the first payment is open', () => {
    const sub = atHalf();
    sub.command(pause());
    expect(codeOf(() => changing('create_prorations', { quantity: 2 })(sub.s, sub.facts()))).toBe('invalid_state_transition');
    expect(changing('create_prorations', { description: 'a note' })(sub.s, sub.facts())).not.toBeNull();
    expect(changing('none', { quantity: 2 })(sub.s, sub.facts())).toMatchObject({ invoice: null, pending: [] });
    const declined = shop({ outcomes: ['soft_decline'] });
    expect(codeOf(() => changing('none', { quantity: 2 })(declined.s, declined.facts()))).toBe('invalid_state_transition');
  });
});

describe('the end of a subscription', () => {
  it('settles what waits: credit for paid time to the balance, new time only as far as it was used', () => {
    const sub = atHalf();
    sub.command(changing('create_prorations', { quantity: 3 }));
    sub.pass(7 * day);
    sub.command(cancel());
    expect(linesOf(sub)).toEqual([3_100, -1_550, 4_650, -2_325]);
    expect(sub.invoices.at(-1)).toMatchObject({ totalAtom: 775, status: 'open' });
    expect(sub.credit).toBe(0);
  });

  it('gives a downgrade\'s credit to the balance, and the unused rest of it', () => {
    const sub = atHalf();
    sub.command(changing('create_prorations', { priceId: 'odd' }));
    sub.pass(7 * day);
    sub.command(cancel());
    expect(sub.credit).toBe(1_550 - 249);
  });

  it('credits nothing that was never paid', () => {
    const sub = shop({ outcomes: ['approved', 'hard_decline'] });
    sub.pass(30 * day);
    expect(stateOf(sub.s)).toBe('active/past_due');
    sub.command(changing('create_prorations', { priceId: 'odd' }));
    sub.command(cancel());
    expect(sub.credit).toBe(0);
  });

  it('bills what waits at the period\'s end without charging it', () => {
    const sub = atHalf();
    sub.command(changing('create_prorations', { quantity: 2 }));
    sub.command(update({ cancelAtEnd: true }));
    sub.pass(15 * day);
    expect([stateOf(sub.s), sub.invoices.at(-1)!.totalAtom, sub.charges.length]).toEqual(['cancelled', 1_550, 1]);
  });

  it('refunds the whole period over all of its invoices', () => {
    const sub = atHalf();
    sub.command(changing('always_invoice', { quantity: 2 }));
    sub.rest();
    sub.command(changing('always_invoice', { quantity: 1 }));
    sub.command(cancel({ fullRefund: true }));
    expect([sub.credit, sub.refunded]).toEqual([1_550, 3_100]);
  });
});

describe('amounts that no processor takes', () => {
  it('are carried to the next invoice, to the atom', () => {
    const sub = atHalf({ minimumAtom: 50 });
    sub.world.prices = [...prices, priceOf('cents', 60)];
    sub.command(changing('always_invoice', { action: 'add', id: 'c', priceId: 'cents' }));
    expect(sub.invoices.at(-1)).toMatchObject({ status: 'paid', totalAtom: 0, dueAtom: 0 });
    expect([sub.lines.sum(), sub.lines.pending()[0]!.amountAtom, sub.charges.length]).toEqual([3_130, 30, 1]);
    sub.pass(15 * day);
    expect(sub.invoices.at(-1)).toMatchObject({ status: 'paid', totalAtom: 3_160 + 30 });
  });

  it('are never lost: each line that carries one names the invoice that it was taken off, once', () => {
    let carried = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 150 }), fc.nat(20)), { minLength: 1, maxLength: 9 }), (additions) => {
        const sub = atHalf({ minimumAtom: 50 });
        for (const [n, [atoms, days]] of additions.entries()) {
          sub.world.prices = [priceOf(`new-${n}`, atoms)];
          sub.pass(days * day);
          sub.command(changing('always_invoice', { action: 'add', id: `new-${n}`, priceId: `new-${n}` }));
          sub.rest();
        }
        const billed = sub.invoices.reduce((sum, { totalAtom }) => sum + totalAtom, 0);
        expect(billed + sub.lines.pending().reduce((sum, { amountAtom }) => sum + amountAtom, 0)).toBe(sub.lines.sum());
        const off = sub.lines.all.flatMap(({ line, invoiceId }) => (line.amountAtom < 0 ? [[invoiceId, -line.amountAtom]] : []));
        const on = sub.lines.all.flatMap(({ line }) => (line.carriedFromInvoiceId ? [[line.carriedFromInvoiceId, line.amountAtom]] : []));
        expect(on).toEqual(off);
        carried += on.length;
      }),
      { numRuns: 100, seed: 31 },
    );
    expect(carried).toBeGreaterThan(100);
  });
});

describe('over any series of changes', () => {
  const step = fc.record({
    after: fc.integer({ min: 1, max: 40 * 86_400 }),
    quantity: fc.integer({ min: 1, max: 9 }),
    priceId: fc.constantFrom('price', 'large', 'odd'),
    proration: fc.constantFrom<ProrationBehavior>('create_prorations', 'always_invoice'),
  });
  const anchors = fc.constantFrom('2027-01-31T12:00:00Z', '2028-02-29T00:00:01Z', '2027-12-30T23:59:59Z', '2038-01-19T03:14:07Z', '2027-03-28T01:30:00Z');

  it('each part and the rest of it are the whole', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 5_000_000 }), fc.integer({ min: 0, max: 31 * 86_400 }), (unit, left) => {
      const sub = begin({}, { price: unit, prices });
      sub.pass(Math.max(0, 28 * 86_400 - left) * 1_000);
      const plan = changing('create_prorations', { action: 'add', id: 'b', priceId: 'price' }, { action: 'remove' })(sub.s, sub.facts())!;
      const [line] = sub.lines.all.slice(-1);
      const credit = plan.pending.find(({ amountAtom }) => amountAtom < 0)?.amountAtom ?? 0;
      expect(-credit).toBeGreaterThanOrEqual(0);
      expect(-credit).toBeLessThanOrEqual(line!.line.amountAtom);
      expect(Math.abs(line!.line.amountAtom + credit - exact(unit, sub)) <= 0.5).toBe(true);
    }), { numRuns: 200 });
  });

  /**
   * Each change rounds twice: a debit by at most half an atom, and the credit of what it leaves of a debit by at most half an
   * atom more; so all lines differ from price × time used by at most one atom a change and period.
   */
  it('all lines together are price × time used, within one atom a change and period', () => {
    fc.assert(fc.property(anchors, fc.array(step, { minLength: 1, maxLength: 12 }), (from, steps) => {
      const sub = begin({}, { now: new Date(from), prices });
      let [used, since] = [0, sub.s.currentPeriodStart];
      const count = { periods: 1 };
      const settle = (until: Date) => {
        for (let at = since; at < until;) {
          const period = sub.invoices.filter(({ billingReason }) => billingReason !== 'subscription_update').findLast(({ periodStart }) => periodStart <= at)!;
          const end = period.periodEnd < until ? period.periodEnd : until;
          used += (rateOf(sub) * secondsBetween(at, end)) / secondsBetween(period.periodStart, period.periodEnd);
          at = end;
        }
        since = until;
      };
      for (const { after, quantity, priceId, proration } of steps) {
        sub.pass(after * 1_000);
        settle(new Date(Math.floor(sub.world.now.getTime() / 1_000) * 1_000));
        sub.command(changing(proration, { quantity, priceId }));
        sub.rest();
      }
      const end = sub.s.currentPeriodEnd;
      settle(end);
      count.periods = sub.invoices.filter(({ billingReason }) => billingReason !== 'subscription_update').length;
      expect(Math.abs(sub.lines.sum() - used)).toBeLessThanOrEqual(steps.length + count.periods);
      expect(sub.lines.sum()).toBe(sub.invoices.reduce((sum, { totalAtom }) => sum + totalAtom, 0) + sub.lines.pending().reduce((sum, { amountAtom }) => sum + amountAtom, 0));
    }), { numRuns: 150 });
  });

  function rateOf(sub: Sketch): number {
    return sub.items.reduce((sum, { unitAmountAtom, quantity }) => sum + unitAmountAtom * quantity, 0);
  }

  function exact(unit: number, sub: Sketch): number {
    const used = secondsBetween(sub.s.currentPeriodStart, sub.world.now);
    return (unit * used) / secondsBetween(sub.s.currentPeriodStart, sub.s.currentPeriodEnd);
  }
});
