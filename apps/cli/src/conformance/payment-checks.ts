import { holds, same, type Check } from './check.js';
import { told, type Trial } from './trial.js';

const declines = {
  do_not_honor: 'soft_decline',
  insufficient_funds: 'insufficient_funds',
  lost_card: 'hard_decline',
  authentication_required: 'authentication_required',
  suspected_fraud: 'risk_refused',
} as const;

type Decline = keyof typeof declines;

async function verification(trial: Trial, token: string): Promise<string> {
  const asked = { ...trial.identity('verification'), theirPaymentMethodId: await trial.method(token), amountAtom: 0, currency: 'eur' };
  return told(await trial.adapter.verify(trial.connection, asked));
}

function declineCheck(code: Decline): Check {
  return {
    name: `decline-${code}`,
    promise: `tok_${code} is stored and verified; its payment is declined with ${code}, and so says the look-up`,
    async run(trial) {
      same('the verification', await verification(trial, `tok_${code}`), 'approved');
      const call = await trial.call(`tok_${code}`);
      const outcome = await trial.pay(call);
      same('the outcome', [outcome.outcomeClass, outcome.declineCode], [declines[code], code]);
      const found = await trial.found(call);
      holds(found.found === 'yes', 'the look-up does not find the declined payment');
      same('what the look-up says', [found.outcome.outcomeClass, found.outcome.declineCode], [declines[code], code]);
      same('the second answer to the same key', (await trial.pay(call)).declineCode, code);
    },
  };
}

export const paymentChecks: readonly Check[] = [
  {
    name: 'token',
    promise: 'tok_approved becomes a payment method; the same key answers the same one; an unknown token is refused',
    async run(trial) {
      const tokenise = (token: string, identity = trial.identity('method')) =>
        trial.adapter.tokenise(trial.connection, { ...identity, source: { token } });
      const identity = trial.identity('method');
      const [first, second] = [await tokenise('tok_approved', identity), await tokenise('tok_approved', identity)];
      same('the answer', told(first), 'approved');
      same('the second answer to the same key', second.theirPaymentMethodId, first.theirPaymentMethodId);
      same('the answer to an unknown token', told(await tokenise('tok_nobody_knows')), 'processor_error: unknown_token');
    },
  },
  {
    name: 'verification',
    promise: 'tok_approved is verified, tok_refused is declined with do_not_honor',
    async run(trial) {
      same('the verification', await verification(trial, 'tok_approved'), 'approved');
      same('the verification of tok_refused', await verification(trial, 'tok_refused'), 'soft_decline: do_not_honor');
    },
  },
  {
    name: 'payment',
    promise: 'a payment is captured at once, or held where that was asked for, and answers what was asked',
    async run(trial) {
      const taken = await trial.pay(await trial.call());
      same('the captured amount', [told(taken), taken.capturedAmountAtom], ['approved', 2_500]);
      const held = await trial.pay(await trial.call('tok_approved', { capture: 'manual' }));
      same('the amounts of a held payment', [told(held), held.approvedAmountAtom, held.capturedAmountAtom], ['approved', 2_500, 0]);
    },
  },
  ...(Object.keys(declines) as Decline[]).map(declineCheck),
  {
    name: 'decline-advice',
    promise: 'tok_do_not_try_again carries what the card scheme says: never again',
    async run(trial) {
      const outcome = await trial.pay(await trial.call('tok_do_not_try_again'));
      same('the advice', [outcome.declineCode, outcome.retryAdvice], ['do_not_try_again', 'never']);
    },
  },
  {
    name: 'unknown-method',
    promise: 'a payment with an unknown payment method is refused with 404 unknown_payment_method',
    async run(trial) {
      const outcome = await trial.pay(await trial.call('tok_approved', { theirPaymentMethodId: trial.fresh('nothing') }));
      same('the outcome', told(outcome), 'processor_error: unknown_payment_method');
    },
  },
  {
    name: 'same-key',
    promise: 'the same key and body again answers the same payment, and one payment is made',
    async run(trial) {
      const { call, id } = await trial.paid();
      same('the second answer', [(await trial.pay(call)).processorPaymentId, await trial.countOf(call.reference)], [id, 1]);
    },
  },
  {
    name: 'same-key-other-body',
    promise: 'the same key with another body is refused with 409 idempotency_key_reused and changes nothing',
    async run(trial) {
      const { call } = await trial.paid();
      const other = await trial.pay({ ...call, amountAtom: 2_600 });
      same('the outcome', other.outcomeClass, 'unknown');
      holds(other.rawMessage?.includes('idempotency_key_reused') === true, `answered: ${other.rawMessage}`);
      const found = await trial.found(call);
      same('what the look-up says', [found.found === 'yes' && found.outcome.outcomeClass, await trial.countOf(call.reference)], ['approved', 1]);
    },
  },
  {
    name: 'same-key-at-once',
    promise: 'eight copies of one request at once make one payment; each is answered with it, or with 409 idempotency_key_in_use',
    async run(trial) {
      const call = await trial.call();
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => trial.pay(call)));
      for (const outcome of outcomes) {
        const waits = outcome.rawMessage?.includes('idempotency_key_in_use') === true;
        holds(outcome.outcomeClass === 'approved' || waits, `a copy was answered ${told(outcome)}`);
      }
      const ids = new Set(outcomes.flatMap(({ processorPaymentId }) => processorPaymentId ?? []));
      same('payments', [ids.size, await trial.countOf(call.reference)], [1, 1]);
    },
  },
  {
    name: 'same-reference-other-key',
    promise: 'a reference that is taken is not used again: another key with it is refused with 409 reference_taken',
    async run(trial) {
      const { call } = await trial.paid();
      const other = await trial.pay({ ...call, idempotencyKey: trial.fresh('key') });
      holds(other.rawMessage?.includes('reference_taken') === true, `answered ${told(other)}`);
      same('payments under the reference', await trial.countOf(call.reference), 1);
    },
  },
  {
    name: 'challenge',
    promise: 'tok_challenge leads to requires_action with an address, to authentication_required when the customer is absent, and a void ends it',
    async run(trial) {
      await trial.offered('tok_challenge');
      const call = await trial.call('tok_challenge', { returnUrl: 'https://shop.example/back' });
      const asked = await trial.pay(call);
      same('the outcome', asked.outcomeClass, 'action_required');
      holds(URL.canParse(asked.redirectUrl ?? ''), 'there is no `redirect_url`');
      same('with the customer absent', (await trial.pay(await trial.call('tok_challenge', { offSession: true }))).outcomeClass, 'authentication_required');
      const ended = await trial.adapter.void(trial.connection, { ...trial.identity('void'), paymentReference: call.reference });
      same('the void', told(ended), 'approved');
    },
  },
  {
    name: 'pending',
    promise: 'tok_pending is accepted first, and stays findable',
    async run(trial) {
      await trial.offered('tok_pending');
      const call = await trial.call('tok_pending');
      same('the outcome', told(await trial.pay(call)), 'pending');
      same('the look-up', (await trial.found(call)).found, 'yes');
    },
  },
];

