import { cleanRecords, shownIds } from './clean-records.js';
import { check } from './checker.js';
import { addUp } from './ledger.js';
import type { Records } from './records.js';
import { SecretSearch } from './secrets.js';

type Writable<T> = T extends ReadonlySet<infer V> ? Set<V> : T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;
type Corruption = (records: Writable<Records>) => void;

const uuid = '00000000-0000-7000-8000-000000000001';
const first = <T>(list: T[]): T => list[0]!;
const last = <T>(list: T[]): T => list.at(-1)!;

const invoice = {
  id: uuid, subscription: null, status: 'open', due: 1_000, paid: 0, refunded: 0, out_of_band: false, reason: 'subscription_cycle', starts: 0, ends: 100,
};
const clock = { id: uuid, status: 'ready', reason: null, waiting: null, frozen: 100, next_action: 101 };
const cycle = (starts: number, ends: number) => ({ ...invoice, subscription: uuid, starts, ends });
const subscription = { id: uuid, status: 'active', billing_status: 'current', charging: null, next_action: null };

const corruptions: [rule: number, what: string, corrupt: Corruption][] = [
  [1, 'a second charge at another connection', ({ payments }) => payments.push({ ...first(payments), id: 'sim_2', connection: uuid })],
  [1, 'a second charge under the same reference', ({ payments }) => payments.push({ ...first(payments), id: 'sim_2', refunded: 0 })],
  [1, 'an attempt beside the success that may still succeed', ({ payments }) => payments.push({ ...first(payments), id: 'sim_2', connection: uuid, status: 'pending' })],
  [1, 'two successes of one payment in our books', ({ books }) => books.charges.push({ ...first(books.charges), id: uuid, reference: 'x-2' })],
  [1, 'two payments of one invoice', ({ books, payments }) => {
    first(books.intents).invoice = uuid;
    books.intents.push({ ...first(books.intents), id: uuid, reference: 'other' });
    payments.push({ ...first(payments), id: 'sim_2', reference: 'other-1' });
  }],
  [1, 'a late success that nobody gives back', ({ books, payments }) => {
    books.charges.push({ ...first(books.charges), id: uuid, reference: 'pi-late-2', late: true });
    payments.push({ ...first(payments), id: 'sim_2', reference: 'pi-late-2' });
  }],
  [2, 'a success unknown to the ledger', (records) => { records.payments = []; }],
  [2, 'another amount at the provider', ({ payments }) => { first(payments).captured = 999; }],
  [2, 'another currency at the provider', ({ payments }) => { first(payments).currency = 'usd'; }],
  [2, 'a success that the provider declined', ({ payments }) => { first(payments).status = 'declined'; }],
  [2, 'a void that the provider does not know', ({ books }) => { first(books.charges).voided = true; }],
  [2, 'a refund that the provider never made', (records) => { records.operations = []; }],
  [2, 'a refund of another amount', ({ operations }) => { first(operations).amount = 200; }],
  [2, 'an answer that told a success of nobody', ({ calls }) => { first(calls).answer.processor_payment_intent_id = 'sim_9'; }],
  [3, 'a success whose attempt failed here', ({ books }) => { first(books.charges).status = 'failed'; }],
  [3, 'a success without an attempt', ({ books }) => { books.charges = []; }],
  [3, 'a success of an attempt that nobody looks up', ({ books }) => Object.assign(first(books.charges), { status: 'pending', outcome: 'unknown' })],
  [3, 'a refund that failed here', ({ books }) => { first(books.operations).status = 'failed'; }],
  [2, 'a refund that failed at the provider', ({ operations }) => { first(operations).status = 'failed'; }],
  [3, 'a refund by hand at the provider', ({ operations }) => operations.push({ ...first(operations), id: 'sim_op_2', reference: '', outOfBand: true })],
  [3, 'a capture that nobody asked for', ({ operations }) => operations.push({ ...first(operations), id: 'sim_op_2', kind: 'capture', reference: 'x' })],
  [4, 'an acknowledged payment that is gone', ({ books }) => { books.intents = []; }],
  [4, 'an acknowledged refund that is gone', ({ books }) => { books.refunds = []; }],
  [4, 'an acknowledged success that became another state', ({ books }) => { first(books.intents).status = 'processing'; }],
  [4, 'an acknowledged amount that shrank', ({ books }) => { first(books.intents).received = 10; }],
  [4, 'one key with two objects', ({ calls }) => calls.push({ ...first(calls), number: 9, answer: { ...first(calls).answer, id: 'pi_other' } })],
  [4, 'one key with two payments, the second unanswered', ({ books }) => books.intents.push({ ...first(books.intents), id: uuid, reference: 'y' })],
  [4, 'an acknowledged capture that is gone', ({ calls, books }) => {
    first(books.intents).status = 'requires_capture';
    calls.push({ ...first(calls), number: 9, key: 'k9', path: `/payment-intents/${shownIds.intent}/capture`, answer: { ...first(calls).answer, status: 'requires_capture' } });
  }],
  [4, 'a declined payment that is gone', ({ calls }) => calls.push({ ...first(calls), number: 9, key: 'k9', status: 402, answer: { payment_intent_id: 'pi_gone' } })],
  [5, 'a payment that moves backwards', ({ books }) => { last(books.events).told = { ...last(books.events).told, status: 'processing' }; }],
  [5, 'a refund that returns to pending, as received', ({ heard }) => {
    const post = heard.find(({ type }) => type === 'refund.updated')!;
    heard.push({ ...post, eventId: 'event_x', sequence: 3, told: { ...post.told, status: 'pending' } });
  }],
  [5, 'a charge that begins as succeeded', ({ books }) => {
    const event = books.events.find(({ type }) => type === 'charge.created')!;
    event.told = { ...event.told, status: 'succeeded' };
  }],
  [6, 'a lost event', ({ books }) => void books.events.splice(2, 1)],
  [6, 'a change without an event', ({ books }) => { first(books.intents).refunded = 400; }],
  [6, 'a row without any event', ({ books }) => books.refunds.push({ ...first(books.refunds), id: uuid, amount: 1 })],
  [6, 'an event that never arrived', ({ heard }) => void heard.splice(4, 1)],
  [6, 'an event that only ever failed', ({ heard }) => { first(heard).answered = 500; }],
  [6, 'an event without a delivery', ({ books }) => void books.deliveries.splice(0, 1)],
  [6, 'an exhaustion that nobody was told', ({ books }) => { first(books.deliveries).status = 'exhausted'; }],
  [6, 'something told that was never committed', ({ heard }) => heard.push({ ...first(heard), eventId: 'event_invented' })],
  [6, 'another body than the committed one', ({ heard }) => { first(heard).digest = 'other'; }],
  [6, 'an unsigned body', ({ heard }) => { first(heard).verified = false; }],
  [2, 'a paid invoice without its money', ({ books }) => books.invoices.push({ ...invoice, status: 'paid' })],
  [3, 'an open invoice whose payment succeeded', ({ books }) => {
    first(books.intents).invoice = uuid;
    books.invoices.push(invoice);
  }],
  [1, 'a period that is billed twice', ({ books }) => books.invoices.push(cycle(0, 100), cycle(0, 100))],
  [1, 'periods that overlap', ({ books }) => books.invoices.push(cycle(100, 200), cycle(0, 101))],
  [8, 'a period that was left out', ({ books }) => books.invoices.push(cycle(0, 100), cycle(200, 300))],
  [8, 'a test clock that stands still', ({ books }) => books.clocks.push({ ...clock, status: 'advancing' })],
  [8, 'a test clock that failed', ({ books }) => books.clocks.push({ ...clock, status: 'internal_failure' })],
  [8, 'something due that a test clock left out', ({ books }) => books.clocks.push({ ...clock, next_action: 100 })],
  [8, 'a subscription that is late', ({ books }) => books.subscriptions.push({ ...subscription, next_action: -1_000_000 })],
  [8, 'a subscription that waits for a payment that has ended', ({ books }) => books.subscriptions.push({ ...subscription, charging: uuid })],
  [4, 'an acknowledged subscription that is gone', ({ calls }) => calls.push({ ...first(calls), number: 9, key: 'k9', path: '/subscriptions/', answer: { created: [{ id: 'sub_x' }] } })],
  [7, 'more captured than authorised', ({ payments }) => { first(payments).captured = 1_001; }],
  [7, 'more refunded than captured', ({ payments }) => { first(payments).refunded = 1_001; }],
  [7, 'refunds that sum to too much', ({ books }) => books.refunds.push({ ...first(books.refunds), id: uuid, amount: 800 })],
  [7, 'an event that tells too much', ({ heard }) => { heard[2]!.told = { ...heard[2]!.told, amounts: { amount: 1_000, authorized: 1_000, captured: 2_000, refunded: 0 } }; }],
  [8, 'an exception that nobody is told of', ({ books }) => { first(books.intents).status = 'exception'; }],
  [8, 'an interrupted payment without a workflow', ({ books }) => Object.assign(first(books.intents), { settled: false, driver: 'api' })],
  [8, 'a payment whose workflow is gone', ({ books }) => Object.assign(first(books.intents), { settled: false, next_action: 11_000 })],
  [8, 'a payment that is long overdue', (records) => {
    Object.assign(first(records.books.intents), { settled: false, next_action: 1 });
    records.driven = null;
    records.readAt = 10_000_000;
  }],
  [8, 'an unfinished refund of a settled payment', ({ books }) => { first(books.operations).status = 'pending'; }],
  [8, 'evidence that nobody reads', ({ books }) => books.evidence.push(first(books.intents).id)],
];

describe('the checker of the fault run', () => {
  it('finds nothing in records that agree', () => {
    expect(check(cleanRecords())).toEqual([]);
  });

  it.each(corruptions)('rule %i finds %s', (rule, _what, corrupt) => {
    const records = cleanRecords();
    corrupt(records as Writable<Records>);
    const found = check(records).filter((breach) => breach.rule === rule);
    expect(found).not.toEqual([]);
    for (const breach of found) expect(breach.ids.every((id) => typeof id === 'string' && id !== '')).toBe(true);
  });

  it('lets a late success pass whose refund is under way, and what waits for a person', () => {
    const records = cleanRecords() as Writable<Records>;
    const late = { ...first(records.books.charges), id: uuid, reference: `${shownIds.intent}-2`, late: true, refunded: 1_000 };
    records.books.charges.push(late);
    records.payments.push({ ...first(records.payments), id: 'sim_2', reference: late.reference, refunded: 0 });
    records.books.operations.push({ ...first(records.books.operations), charge: uuid, status: 'pending', next_lookup: 20_000, reference: 'x' });
    expect(check(records).filter(({ rule }) => rule === 1)).toEqual([]);
    records.books.operations.pop();
    expect(check(records).filter(({ rule }) => rule === 1)).not.toEqual([]);
    records.books.attention.push({ type: 'operation_refused', object: late.intent });
    expect(check(records).filter(({ rule }) => rule === 1)).toEqual([]);
  });

  it.each([
    ['4242424242424242', 'a card number'],
    ['4000 0000 0000 0002', 'a card number'],
    ['{\\"cvc\\":\\"739\\"}', 'a CVC'],
    [`st_stg_${'a'.repeat(49)}`, 'an API token'],
    [`whsec_${'A'.repeat(43)}=`, 'a signing secret'],
    ['p+ss/word.of.it', 'the password'],
  ])('rule 9 finds %s', (text, what) => {
    const search = new SecretSearch({ 'the password': 'p+ss/word.of.it' });
    search.search('{"msg":"nothing","amount":4242,"cvc":"***"}', 'a log');
    expect(search.breaches).toEqual([]);
    search.search(`{"msg":"${text}"}`, 'a log');
    expect(search.breaches).toEqual([{ rule: 9, what: `${what} is in the open`, ids: ['a log'] }]);
  });
});

describe('the ledger', () => {
  it('is added up from its facts', () => {
    const record = { id: 'p', connection: 'c', reference: 'r', status: 'authorized', amount: 10, amount_authorized: 10, amount_captured: 0, amount_refunded: 0, currency: 'eur' };
    const operation = { id: 'o', connection: 'c', kind: 'capture', reference: 'r-capture-1', payment: 'p', amount: 7 };
    const { payments, operations } = addUp([
      { type: 'payment', record },
      { type: 'operation', record: operation },
      { type: 'operation', record: { ...operation, id: 'o2', kind: 'refund', amount: 3 } },
      { type: 'payment', record: { ...record, id: 'q', status: 'pending' } },
      { type: 'payment_changed', record: { ...record, id: 'q', status: 'declined' } },
    ]);
    expect(payments).toMatchObject([{ id: 'p', status: 'captured', captured: 7, refunded: 3 }, { id: 'q', status: 'declined' }]);
    expect(operations).toHaveLength(2);
    const slow = { ...operation, id: 'o3', kind: 'refund', amount: 4, status: 'pending' };
    const facts = [{ type: 'payment', record: { ...record, amount_captured: 10 } }, { type: 'operation', record: slow }];
    const after = (...statuses: string[]) => addUp([...facts, ...statuses.map((status) => ({ type: 'operation_changed', record: { ...slow, status } }))]).payments[0]!.refunded;
    expect([after(), after('succeeded'), after('succeeded', 'failed'), after('failed')]).toEqual([0, 4, 0, 0]);
  });
});
