import fc from 'fast-check';
import { checkPublishable, checkRouteDocument } from './route.checks.js';
import { decideRoute, holds, isBarred, skipReason, type Candidate, type RouteFacts } from './route.decision.js';
import type { FieldTest, RouteCondition, RouteDocument } from './route.document.js';

const facts: RouteFacts = {
  payment_id: 'p',
  amount_atom: 5_000,
  currency: 'eur',
  payment_method_kind: 'credit_card',
  card_brand: 'visa',
  funding: 'credit',
  bin: '424242',
  issuer_country: 'DE',
  billing_country: null,
  initiator: 'customer',
  subscription_payment: null,
  customer_id: 'cus_stg_1',
  metadata: { tier: 'gold', score: 7 },
  custom_fields: null,
};
const ready = (processorId: string): Candidate => ({ processorId, enabled: true, supported: true, mapped: true, storedCredential: true });
const ids = ['p0', 'p1', 'p2', 'p3'];
const all = new Map(ids.map((id) => [id, ready(id)]));

describe('conditions', () => {
  it.each<[FieldTest, boolean]>([
    [{ field: 'currency', eq: 'eur' }, true],
    [{ field: 'currency', ne: 'eur' }, false],
    [{ field: 'currency', in: ['usd', 'eur'] }, true],
    [{ field: 'currency', not_in: ['usd'] }, true],
    [{ field: 'amount_atom', gte: 5_000, lt: 5_001 }, true],
    [{ field: 'amount_atom', gt: 5_000 }, false],
    [{ field: 'bin', prefix: '4242' }, true],
    [{ field: 'billing_country', eq: 'DE' }, false],
    [{ field: 'billing_country', ne: 'DE' }, true],
    [{ field: 'billing_country', not_in: ['DE'] }, true],
    [{ field: 'billing_country', exists: false }, true],
    [{ field: 'billing_country', lt: 3 }, false],
    [{ field: 'metadata.tier', eq: 'gold' }, true],
    [{ field: 'metadata.score', gte: 7 }, true],
    [{ field: 'metadata.toString', exists: true }, false],
    [{ field: 'custom_fields.x', exists: false }, true],
  ])('%j is %s', (test, expected) => {
    expect(holds(test, facts)).toBe(expected);
  });

  const test = fc.record({ field: fc.constantFrom('currency', 'amount_atom', 'billing_country'), eq: fc.constantFrom('eur', 5_000, 'DE') });
  const condition: fc.Arbitrary<RouteCondition> = fc.letrec<{ node: RouteCondition }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      test as fc.Arbitrary<RouteCondition>,
      fc.record({ all: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('node') }),
    ),
  })).node;

  it('obey De Morgan and double negation', () => {
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 4 }), (parts) => {
        expect(holds({ not: { all: parts } }, facts)).toBe(holds({ any: parts.map((part) => ({ not: part })) }, facts));
        expect(holds({ not: { not: parts[0]! } }, facts)).toBe(holds(parts[0]!, facts));
      }),
    );
  });
});

describe('a decision', () => {
  const candidate = fc.record({
    enabled: fc.boolean(),
    supported: fc.boolean(),
    mapped: fc.boolean(),
    storedCredential: fc.boolean(),
    schemeBlock: fc.constantFrom(null, 'scheme_limit' as const, 'never_again' as const),
  });

  it('names each connection once, as next in order or as skipped with a reason', () => {
    fc.assert(
      fc.property(fc.array(candidate, { minLength: 4, maxLength: 4 }), fc.boolean(), fc.subarray(ids, { minLength: 1 }), (states, absent, named) => {
        const candidates = new Map(states.map((state, index) => [ids[index]!, { processorId: ids[index]!, ...state }]));
        const about: RouteFacts = { ...facts, initiator: absent ? 'merchant' : 'customer' };
        const decision = decideRoute({ rules: [], default: { strategy: 'priority', processors: named } }, about, candidates);
        expect([...decision.order, ...decision.skipped.map((each) => each.processor_id)].sort()).toEqual([...named].sort());
        for (const id of decision.order) expect(skipReason(candidates.get(id), about)).toBeNull();
        for (const { processor_id, reason } of decision.skipped) expect(skipReason(candidates.get(processor_id), about)).toBe(reason);
        expect(decision.order).toEqual(named.filter((id) => decision.order.includes(id)));
      }),
    );
  });

  const breaker = { since: '2026-01-01T00:00:00.000Z', samples: 20, bad: 18, probeDue: false };
  const decided = (...states: Partial<Candidate>[]) => {
    const document: RouteDocument = { rules: [], default: { strategy: 'priority', processors: ids.slice(0, states.length) } };
    return decideRoute(document, facts, new Map(states.map((state, index) => [ids[index]!, { ...ready(ids[index]!), ...state }])));
  };

  it('goes past a connection that is set aside, and says what was wrong with it', () => {
    expect(decided({ breaker }, {}, { enabled: false })).toMatchObject({
      order: ['p1'],
      skipped: [{ processor_id: 'p2', reason: 'disabled' }, { processor_id: 'p0', reason: 'set_aside' }],
      set_aside: [{ processor_id: 'p0', since: breaker.since, samples: 20, bad: 18, tried: 'no' }],
    });
  });

  it('goes there when a probe is due', () => {
    expect(decided({ breaker: { ...breaker, probeDue: true } }, {})).toMatchObject({
      order: ['p0', 'p1'], skipped: [], set_aside: [{ processor_id: 'p0', tried: 'probe' }],
    });
  });

  it('tries the first where all are set aside', () => {
    expect(decided({ breaker }, { breaker }, { mapped: false })).toMatchObject({
      order: ['p0', 'p1'],
      skipped: [{ processor_id: 'p2', reason: 'no_mapping' }],
      set_aside: [{ processor_id: 'p0', tried: 'all_are_set_aside' }, { processor_id: 'p1', tried: 'all_are_set_aside' }],
    });
  });

  it('is barred only where the scheme\'s prohibition is all that could change', () => {
    const barred = (p1: Partial<Candidate>) => isBarred(decided({ schemeBlock: 'never_again' }, p1));
    expect(barred({ schemeBlock: 'never_again' })).toBe(true);
    expect(barred({ mapped: false })).toBe(true);
    expect(barred({})).toBe(false);
    expect(barred({ breaker })).toBe(false);
    expect(barred({ enabled: false })).toBe(false);
    expect(barred({ schemeBlock: 'scheme_limit' })).toBe(false);
  });

  it('takes the first rule that matches', () => {
    const rules = ids.map((id, index) => ({
      name: id,
      when: { field: 'amount_atom', gte: (ids.length - index) * 1_000 },
      then: { strategy: 'priority' as const, processors: [id] },
    }));
    const document: RouteDocument = { rules, default: { strategy: 'priority', processors: ['p0'] } };
    expect(decideRoute(document, { ...facts, amount_atom: 2_500 }, all)).toMatchObject({ rule: 'p2', order: ['p2'] });
    expect(decideRoute(document, { ...facts, amount_atom: 500 }, all)).toMatchObject({ rule: null, order: ['p0'] });
  });

  it('splits in proportion, stably, and keeps the others as fallback', () => {
    const document: RouteDocument = {
      rules: [],
      default: { strategy: 'split', weights: [{ processor: 'p0', percent: 60 }, { processor: 'p1', percent: 30 }, { processor: 'p2', percent: 10 }] },
    };
    const first = (payment: string) => decideRoute(document, { ...facts, payment_id: payment }, all).order;
    const counts = new Map<string, number>();
    for (let index = 0; index < 10_000; index += 1) {
      const order = first(`01a1fde0-3d8b-7ee9-b863-${index.toString(16).padStart(12, '0')}`);
      expect(order).toHaveLength(3);
      counts.set(order[0]!, (counts.get(order[0]!) ?? 0) + 1);
    }
    expect(counts.get('p0')! / 10_000).toBeCloseTo(0.6, 1);
    expect(counts.get('p1')! / 10_000).toBeCloseTo(0.3, 1);
    expect(first('same')).toEqual(first('same'));
  });

  it('of 200 rules stays under a millisecond', () => {
    const rules = Array.from({ length: 200 }, (_, index) => ({
      name: `r${index}`,
      when: { all: [{ field: 'currency', in: ['usd', 'gbp'] }, { any: [{ field: 'amount_atom', gte: index }, { field: 'bin', prefix: `${index}` }] }] },
      then: { strategy: 'priority' as const, processors: ids },
    }));
    const document: RouteDocument = { rules, default: { strategy: 'priority', processors: ids } };
    for (let index = 0; index < 500; index += 1) decideRoute(document, facts, all);
    const times = Array.from({ length: 1_000 }, () => {
      const start = performance.now();
      decideRoute(document, facts, all);
      return performance.now() - start;
    }).sort((a, b) => a - b);
    expect(times[500]).toBeLessThan(1);
  });
});

describe('checks of a document', () => {
  it('find every mistake at its path', () => {
    const document: RouteDocument = {
      rules: [
        { name: 'a', when: { not: { field: 'nowhere', eq: 1 } }, then: { strategy: 'priority', processors: ['p0', 'p0'] } },
        { name: 'a', when: { any: [] }, then: { strategy: 'split', weights: [{ processor: 'p1', percent: 50 }] } },
      ],
      default: { strategy: 'least_cost', fees: [{ processor: 'p9', basis_points: 1, fixed_atom: 0 }] },
    };
    const paths = checkRouteDocument(document, new Set(ids)).map((mistake) => mistake.path.join('.'));
    expect(paths.sort()).toEqual(
      ['default.fees.0.processor', 'rules.0.then.processors.1', 'rules.0.when.not.field', 'rules.1.name', 'rules.1.then.weights', 'rules.1.when.any'].sort(),
    );
    expect(checkPublishable(document).map((mistake) => mistake.path)).toEqual([['default', 'strategy']]);
  });
});
