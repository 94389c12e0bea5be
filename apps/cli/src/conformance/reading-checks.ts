import { holds, NotOffered, same, type Check } from './check.js';
import type { Trial } from './trial.js';

const enoughPages = 1_000;

/** Whether the list of the last minutes holds the payment. */
async function isListed(trial: Trial, reference: string): Promise<boolean> {
  const since = new Date(Date.now() - 300_000).toISOString();
  const until = new Date(Date.now() + 300_000).toISOString();
  let cursor: string | null = null;
  for (let page = 0; page < enoughPages; page += 1) {
    const answer = await trial.adapter.list!(trial.connection, { since, until, cursor });
    holds(answer.ok, `the list was not answered: ${answer.ok ? '' : answer.unavailable}`);
    if (answer.payments.some((payment) => payment.reference === reference)) return true;
    if (answer.nextCursor === null) return false;
    cursor = answer.nextCursor;
  }
  return false;
}

export const readingChecks: readonly Check[] = [
  {
    name: 'lookup-payment',
    promise: 'a payment is found by its reference at once, with the same id, amount and sums',
    async run(trial) {
      for (let turn = 0; turn < 5; turn += 1) {
        const { call, id } = await trial.paid();
        const found = await trial.found(call);
        holds(found.found === 'yes', 'the look-up does not find the payment');
        same('what it says', [found.outcome.outcomeClass, found.outcome.processorPaymentId, found.totals.capturedAmountAtom], ['approved', id, 2_500]);
      }
    },
  },
  {
    name: 'lookup-absent',
    promise: 'a reference that was never used is absent: an empty list, not an error',
    async run(trial) {
      same('the look-up', (await trial.found(await trial.call())).found, 'absent');
      for (const operation of ['capture', 'void', 'refund'] as const) {
        same(`the look-up of a ${operation}`, (await trial.adapter.lookup(trial.connection, { operation, reference: trial.fresh('none') })).found, 'absent');
      }
    },
  },
  {
    name: 'lookup-operations',
    promise: 'captures, voids and refunds are found by their references; one that was refused is not there',
    async run(trial) {
      const { adapter, connection } = trial;
      const [held, paid, gone] = [await trial.paid({ capture: 'manual' }), await trial.paid(), await trial.paid({ capture: 'manual' })];
      const calls = { capture: trial.part(held.id, 1_000), refund: trial.part(paid.id, 1_000), void: { ...trial.identity('void'), paymentReference: gone.call.reference } };
      await adapter.capture(connection, calls.capture);
      await adapter.refund(connection, calls.refund);
      await adapter.void(connection, calls.void);
      for (const operation of ['capture', 'void', 'refund'] as const) {
        const { reference } = calls[operation];
        const found = await adapter.lookup(connection, { operation, reference, amountAtom: operation === 'void' ? null : 1_000, currency: 'eur' });
        holds(found.found === 'yes', `the ${operation} is ${found.found}`);
        holds(found.outcome.outcomeClass === 'approved' || found.outcome.outcomeClass === 'pending', `the ${operation} is ${found.outcome.outcomeClass}`);
      }
      const refused = trial.part(held.id, 1_000);
      await adapter.capture(connection, refused);
      same('a refused capture', (await adapter.lookup(connection, { operation: 'capture', reference: refused.reference })).found, 'absent');
    },
  },
  {
    name: 'lost-answer',
    promise: 'after an answer that nobody read, the same key finds out: one payment, and the look-up agrees',
    async run(trial) {
      const call = await trial.call();
      const hurried = { ...trial.connection, deadlines: { connectMs: 5_000, totalMs: 3 } };
      await trial.adapter.authorize(hurried, call);
      same('the second answer', (await trial.pay(call)).outcomeClass, 'approved');
      same('payments under the reference', await trial.countOf(call.reference), 1);
    },
  },
  {
    name: 'list',
    promise: 'a payment is in the list of its time, page by page',
    async run(trial) {
      const { call } = await trial.paid();
      const query = new URLSearchParams({ since: new Date(0).toISOString(), until: new Date().toISOString(), limit: '1' });
      const { status } = await trial.forge({ method: 'GET', path: `/payments?${query}` });
      if (status === 404 || status === 422) throw new NotOffered('there is no list: leave `settings.list` out');
      holds(await isListed(trial, call.reference), 'it is not there');
    },
  },
];
