import { holds, same, type Check } from './check.js';
import { told, type Trial } from './trial.js';

type Kind = 'capture' | 'refund';

/** Captures or refunds a part, and says in a word what came of it. */
async function perform(trial: Trial, kind: Kind, id: string, amountAtom: number): Promise<string> {
  return told(await trial.adapter[kind](trial.connection, trial.part(id, amountAtom)));
}

async function voided(trial: Trial, paymentReference: string, processorPaymentId: string | null = null): Promise<string> {
  return told(await trial.adapter.void(trial.connection, { ...trial.identity('void'), paymentReference, processorPaymentId }));
}

async function totals(trial: Trial, call: Awaited<ReturnType<Trial['paid']>>['call']) {
  const found = await trial.found(call);
  holds(found.found === 'yes', 'the look-up does not find the payment');
  return found.totals;
}

function repeated(kind: Kind): Check {
  return {
    name: `same-key-${kind}`,
    promise: `the same key again answers the same ${kind}, and it is done once`,
    async run(trial) {
      const { call, id } = await trial.paid({ capture: kind === 'capture' ? 'manual' : 'automatic' });
      const part = trial.part(id, 1_000);
      const outcomes = [];
      for (let turn = 0; turn < 3; turn += 1) outcomes.push(await trial.adapter[kind](trial.connection, part));
      same('the answers', [...new Set(outcomes.map(told))], ['approved']);
      same('their ids', new Set(outcomes.map(({ processorOperationId }) => processorOperationId)).size, 1);
      const after = await totals(trial, call);
      same('the sum', kind === 'capture' ? after.capturedAmountAtom : after.refundedAmountAtom, 1_000);
    },
  };
}

export const operationChecks: readonly Check[] = [
  {
    name: 'capture',
    promise: 'what was held is captured, whole or in part',
    async run(trial) {
      const [whole, part] = [await trial.paid({ capture: 'manual' }), await trial.paid({ capture: 'manual' })];
      same('the whole capture', await perform(trial, 'capture', whole.id, 2_500), 'approved');
      same('the capture of a part', await perform(trial, 'capture', part.id, 1_000), 'approved');
      same('the captured sum', (await totals(trial, part.call)).capturedAmountAtom, 1_000);
    },
  },
  {
    name: 'capture-too-much',
    promise: 'more than was held is refused with amount_too_large',
    async run(trial) {
      const { call, id } = await trial.paid({ capture: 'manual' });
      same('the outcome', await perform(trial, 'capture', id, 2_501), 'processor_error: amount_too_large');
      same('the captured sum', (await totals(trial, call)).capturedAmountAtom, 0);
    },
  },
  {
    name: 'capture-twice',
    promise: 'a second capture is refused with not_capturable, two at once take one',
    async run(trial) {
      const { call, id } = await trial.paid({ capture: 'manual' });
      const both = await Promise.all([perform(trial, 'capture', id, 1_000), perform(trial, 'capture', id, 1_000)]);
      same('the outcomes', both.sort(), ['approved', 'processor_error: not_capturable']);
      same('the captured sum', (await totals(trial, call)).capturedAmountAtom, 1_000);
    },
  },
  repeated('capture'),
  {
    name: 'void',
    promise: 'a held payment is voided, by its reference alone; a capture after it is refused',
    async run(trial) {
      const { call, id } = await trial.paid({ capture: 'manual' });
      same('the void', await voided(trial, call.reference), 'approved');
      same('whether it is voided', (await totals(trial, call)).voided, true);
      same('the capture after it', await perform(trial, 'capture', id, 1_000), 'processor_error: not_capturable');
    },
  },
  {
    name: 'void-before-payment',
    promise: 'the void of a reference without a payment closes it: a payment that comes later is refused with reference_closed',
    async run(trial) {
      const call = await trial.call();
      same('the void', await voided(trial, call.reference), 'approved');
      same('the payment after it', told(await trial.pay(call)), 'processor_error: reference_closed');
      same('payments under the reference', await trial.countOf(call.reference), 0);
    },
  },
  {
    name: 'void-captured',
    promise: 'the void of a captured payment is refused with not_voidable',
    async run(trial) {
      const { call, id } = await trial.paid();
      same('the outcome', await voided(trial, call.reference, id), 'processor_error: not_voidable');
    },
  },
  {
    name: 'refund',
    promise: 'what was captured is given back in parts, and told in the payment\'s refunds',
    async run(trial) {
      const { call, id } = await trial.paid();
      for (const amount of [500, 2_000]) {
        const outcome = await perform(trial, 'refund', id, amount);
        holds(outcome === 'approved' || outcome === 'pending', `the refund of ${amount} was answered ${outcome}`);
      }
      const { body } = await trial.forge({ method: 'GET', path: `/payments/by-reference?reference=${encodeURIComponent(call.reference)}` });
      const [payment] = (JSON.parse(body) as { data: { refunds: { amount: number }[] }[] }).data;
      same('the refunds', payment?.refunds.map(({ amount }) => amount), [500, 2_000]);
    },
  },
  {
    name: 'refund-too-much',
    promise: 'more than is left is refused with amount_too_large, also when two come at once',
    async run(trial) {
      const { call, id } = await trial.paid();
      same('the outcome', await perform(trial, 'refund', id, 2_501), 'processor_error: amount_too_large');
      const both = await Promise.all([perform(trial, 'refund', id, 2_000), perform(trial, 'refund', id, 2_000)]);
      same('refused of two', both.filter((outcome) => outcome === 'processor_error: amount_too_large').length, 1);
      holds((await totals(trial, call)).refundedAmountAtom <= 2_500, 'more was refunded than captured');
    },
  },
  {
    name: 'refund-uncaptured',
    promise: 'the refund of a payment that is not captured is refused with not_refundable',
    async run(trial) {
      const { id } = await trial.paid({ capture: 'manual' });
      same('the outcome', await perform(trial, 'refund', id, 1_000), 'processor_error: not_refundable');
    },
  },
  repeated('refund'),
];
