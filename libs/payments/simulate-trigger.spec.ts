import { inTurn, simulateOf } from './simulate-trigger.js';

const april = new Date('2028-04-30T23:59:59.000Z');

describe('the simulator\'s trigger', () => {
  it.each<[what: string, simulate: unknown, billedFrom: Date | null, expected: unknown]>([
    ['a name', 'do_not_honor', april, 'do_not_honor'],
    ['one per connection', { processor_stg_a: 'approved' }, april, { processor_stg_a: 'approved' }],
    ['one of the month', { 'month:2028-04': 'lost_card', processor_stg_a: 'approved' }, april, 'lost_card'],
    ['one of another month', { 'month:2028-05': 'lost_card' }, april, null],
    ['one of another month beside a connection', { 'month:2028-05': 'lost_card', processor_stg_a: 'approved' }, april, { processor_stg_a: 'approved' }],
    ['a month where nothing is billed', { 'month:2028-04': 'lost_card' }, null, null],
    ['something else', 7, april, null],
    ['nothing', undefined, april, null],
  ])('is %s', (_what, simulate, billedFrom, expected) => {
    expect(simulateOf({ simulate }, billedFrom)).toEqual(expected);
  });

  it('follows its list from try to retry, and stays with the last', () => {
    const listed = 'do_not_honor, insufficient_funds,approved';
    expect([1, 2, 3, 9].map((confirmation) => inTurn(listed, confirmation))).toEqual(['do_not_honor', 'insufficient_funds', 'approved', 'approved']);
    expect(inTurn({ a: listed, b: 'approved' }, 2)).toEqual({ a: 'insufficient_funds', b: 'approved' });
    expect([inTurn(null, 1), inTurn('approved', 0)]).toEqual([null, 'approved']);
  });
});
