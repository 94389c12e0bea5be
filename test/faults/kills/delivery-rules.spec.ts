import { cleanRecords, shownIds } from '../clean-records.js';
import type { Heard } from '../records.js';
import { inOrder, oneEventPerChange, repetitions } from './delivery-rules.js';

const customer = 'cus_stg_00000000000000000000000001';
const [post] = cleanRecords().heard as [Heard];
const posts = (...sequences: [number, number | null][]): Heard[] =>
  sequences.map(([sequence, answered], index) => ({ ...post, object: customer, number: index + 1, sequence, answered, eventId: `event_${sequence}`, digest: `digest ${sequence}` }));

const inOrderCases: [string, [number, number | null][], number][] = [
  ['one after the other', [[1, 200], [2, 200]], 0],
  ['the same again after it was taken', [[1, 200], [2, 200], [1, 200], [3, 200]], 0],
  ['a failure that is tried again', [[1, 500], [1, null], [1, 200], [2, 200]], 0],
  ['the next after a failure', [[1, 500], [2, 200]], 1],
  ['the next after a broken connection', [[1, null], [2, 200]], 1],
  ['a gap', [[1, 200], [3, 200]], 1],
];

it.each(inOrderCases)('an ordered endpoint: %s', (_, sequences, breaches) => {
  expect(inOrder(posts(...sequences), shownIds.endpoint)).toHaveLength(breaches);
  expect(inOrder(posts(...sequences), 'another endpoint')).toEqual([]);
});

it('a change that was acknowledged and not told is found, and one that was told twice', () => {
  const uuid = '00000000-0000-0000-0000-000000000001';
  const clean = cleanRecords();
  const change = { ...clean.calls[0]!, method: 'PUT', path: `/customers/${customer}`, key: 'k1', status: 200 };
  const event = { ...clean.books.events[0]!, type: 'customer.updated', object: uuid };
  const records = (calls: object[], events: object[]) => ({ ...clean, calls: calls as typeof clean.calls, books: { ...clean.books, events: events as typeof clean.books.events } });
  expect(oneEventPerChange(records([change, { ...change, number: 2 }], [event]))).toEqual([]);
  expect(oneEventPerChange(records([{ ...change, status: null }], []))).toEqual([]);
  expect(oneEventPerChange(records([change], []))).toHaveLength(1);
  expect(oneEventPerChange(records([change], [event, event]))).toHaveLength(1);
});

it('repetitions are counted, and those with other bytes', () => {
  const heard = posts([1, 200], [1, 200], [2, 200]);
  expect(repetitions(heard)).toEqual({ repeated: 1, different: 0 });
  expect(repetitions([...heard, { ...heard[2]!, digest: 'other' }])).toEqual({ repeated: 2, different: 1 });
});
