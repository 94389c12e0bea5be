import fc from 'fast-check';
import type { Act, Beginning, ItemAct, Outcome, Rhythm } from './model/model.act.js';
import { day, hour } from './model/model.calendar.js';

const seconds = (max: number) => fc.integer({ min: 0, max: max / 1000 }).map((n) => n * 1000);
const outcomes = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Outcome>('approved') },
  { weight: 4, arbitrary: fc.constantFrom<Outcome>('soft_decline', 'insufficient_funds') },
  { weight: 2, arbitrary: fc.constantFrom<Outcome>('hard_decline', 'authentication_required', 'risk_refused') },
  { weight: 2, arbitrary: fc.constant<Outcome>('unresolved') },
);
/** A subscription of any kind; prices, dates and answers are chosen where mistakes hide. */
export const beginnings: fc.Arbitrary<Beginning> = fc.record({
  now: fc.constantFrom('2027-01-31T12:00:00.000Z', '2028-02-29T23:59:59.999Z', '2027-10-31T00:30:00.500Z', '2038-01-19T03:14:07.000Z').map((at) => Date.parse(at)),
  unit: fc.constantFrom('month' as const, 'month' as const, 'week' as const, 'day' as const, 'year' as const),
  count: fc.constantFrom(1, 1, 3),
  sold: fc.array(fc.record({ unitAtom: fc.constantFrom(0, 1, 999, 3_100, 10_001), quantity: fc.integer({ min: 1, max: 7 }) }), { minLength: 1, maxLength: 3 }),
  startsIn: fc.constantFrom(null, null, null, -10 * day, 3 * day),
  trialDays: fc.constantFrom(0, 0, 1, 5, 14),
  withoutMethod: fc.constantFrom('pause' as const, 'cancel' as const),
  byInvoice: fc.constantFrom(false, false, false, true),
  netDays: fc.constantFrom(null, 0, 7),
  dunning: fc.record({
    retryHours: fc.constantFrom([6, 24, 72, 120, 168, 240, 336], [6, 24, 72, 120, 168, 240, 336], [12], []),
    endsAfterHours: fc.constantFrom(null, null, 480),
    finalAction: fc.constantFrom('cancel' as const, 'pause' as const, 'leave_unpaid' as const),
  }),
  announceDays: fc.constantFrom(3, 3, 0),
  cycles: fc.constantFrom(null, null, null, 1, 3),
  method: fc.constantFrom('a', 'a', 'a', null),
  balanceAtom: fc.constantFrom(0, 0, 0, 5, 4_000),
  outcomes: fc.array(outcomes, { maxLength: 14 }),
  jitterSeconds: fc.constantFrom(30, 30, 0),
});
const units = fc.constantFrom(0, 1, 999, 3_100, 10_001);
const quantity = fc.integer({ min: 1, max: 7 });
const rhythms: fc.Arbitrary<Rhythm> = fc.record({ unit: fc.constantFrom('month' as const, 'week' as const, 'day' as const, 'year' as const), count: fc.constantFrom(1, 1, 3) });
const how = fc.constantFrom('create_prorations' as const, 'always_invoice' as const, 'none' as const);
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const itemActs: fc.Arbitrary<ItemAct> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const), sold: fc.record({ unitAtom: units, quantity }), rhythm: rarely(rhythms), nextPeriod: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('change' as const), item: fc.nat(3), quantity, unitAtom: fc.option(units), rhythm: rarely(rhythms),
      nextPeriod: fc.constantFrom(null, null, null, null, false, true), ends: fc.constantFrom(null, null, null, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), item: fc.nat(3), atEnd: fc.boolean() }) },
);
const itemChanges = fc.record({
  does: fc.constant('items' as const),
  changes: fc.array(itemActs, { minLength: 1, maxLength: 2 }),
  how,
});
const intervalChanges = fc.record({ does: fc.constant('interval' as const), rhythm: rhythms, unitAtom: units, how });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.oneof(seconds(60_000), seconds(8 * hour), seconds(20 * day), seconds(120 * day)) }) },
  { weight: 2, arbitrary: fc.constant<Act>({ does: 'pause' }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('pauseFor' as const), ms: seconds(20 * day).map((ms) => ms + 1000) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('pauseCycles' as const), cycles: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('resume' as const), free: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cancel' as const), voids: fc.boolean(), refunds: fc.boolean(), prorates: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cancelAtEnd' as const), set: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant<Act>({ does: 'endTrial' }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('moveTrialEnd' as const), ms: seconds(20 * day) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('method' as const), method: fc.constantFrom('a', 'b', null) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('answer' as const), outcome: fc.constantFrom('approved' as const, 'approved' as const, 'soft_decline' as const, 'hard_decline' as const) }) },
  { weight: 4, arbitrary: itemChanges },
  { weight: 2, arbitrary: intervalChanges },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('byHand' as const), which: fc.nat(3), to: fc.constantFrom('paid' as const, 'paid' as const, 'void' as const, 'uncollectible' as const) }) },
);
/** What a merchant, a customer and time do to it. */
export const histories = fc.array(acts, { minLength: 1, maxLength: 25 });
