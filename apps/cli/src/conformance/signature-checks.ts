import { randomBytes } from 'node:crypto';
import { keyId, signatureOf } from '../../../../libs/processors/http/http.signature.js';
import { holds, same, type Check } from './check.js';
import type { Forged, Trial } from './trial.js';

const check: Forged = { method: 'GET', path: '/check' };

async function refused(trial: Trial, forged: Forged): Promise<void> {
  same('the answer', await trial.refusal(forged), { status: 401, code: 'invalid_signature' });
}

/** A whole, rightly signed payment, to be spoilt in one place. */
async function payment(trial: Trial): Promise<Required<Pick<Forged, 'path' | 'body' | 'key'>> & { reference: string }> {
  const { reference, idempotencyKey: key } = trial.identity('forged');
  const body = {
    reference, amount: 2_500, currency: 'eur', capture: 'automatic', payment_method: await trial.method('tok_approved'), off_session: false,
    network_transaction_id: null, return_url: null, callback_url: null, metadata: {},
  };
  return { path: '/payments', body: JSON.stringify(body), key, reference };
}

export const signatureChecks: readonly Check[] = [
  {
    name: 'check',
    promise: 'GET /check answers, signed with the shared secret, and names this version of the contract',
    async run({ adapter, connection }) {
      const { ok, detail } = await adapter.check(connection);
      holds(ok, detail);
    },
  },
  {
    name: 'signature-missing',
    promise: 'a request without a signature is refused with 401 invalid_signature, and the refusal is signed',
    run: (trial) => refused(trial, { ...check, signature: () => null }),
  },
  {
    name: 'signature-wrong',
    promise: 'a request whose signature is wrong is refused',
    run: (trial) => refused(trial, { ...check, signature: (right) => right.replace(signatureOf(right), randomBytes(32).toString('hex')) }),
  },
  {
    name: 'signature-unknown-key',
    promise: 'a request signed with a key that nobody knows is refused',
    run: (trial) => refused(trial, { ...check, signature: (right) => right.replace(/k=[^,]+/, `k=${keyId(randomBytes(32).toString('hex'))}`) }),
  },
  {
    name: 'signature-stale',
    promise: 'a request signed ten minutes ago is refused',
    run: (trial) => refused(trial, { ...check, atSeconds: Math.floor(Date.now() / 1000) - 600 }),
  },
  {
    name: 'signature-future',
    promise: 'a request signed ten minutes ahead is refused',
    run: (trial) => refused(trial, { ...check, atSeconds: Math.floor(Date.now() / 1000) + 600 }),
  },
  {
    name: 'signature-covers-body',
    promise: 'a payment whose body was changed after signing is refused, and nothing is made',
    async run(trial) {
      const { reference, ...forged } = await payment(trial);
      await refused(trial, { ...forged, signedAs: { body: forged.body.replace('2500', '2501') } });
      same('payments under its reference', await trial.countOf(reference), 0);
    },
  },
  {
    name: 'signature-covers-path',
    promise: 'a signature for another path or method is refused',
    async run(trial) {
      await refused(trial, { ...check, signedAs: { target: '/payments' } });
      await refused(trial, { ...check, signedAs: { method: 'POST' } });
    },
  },
  {
    name: 'signature-covers-key',
    promise: 'a signature for another idempotency-key is refused, and nothing is made',
    async run(trial) {
      const { reference, ...forged } = await payment(trial);
      await refused(trial, { ...forged, signedAs: { idempotencyKey: 'another' } });
      same('payments under its reference', await trial.countOf(reference), 0);
    },
  },
  {
    name: 'malformed-body',
    promise: 'a body that is not JSON is refused with 422 invalid_request',
    async run(trial) {
      const { key } = await payment(trial);
      same('the answer', await trial.refusal({ path: '/payments', body: '{"reference": ', key }), { status: 422, code: 'invalid_request' });
    },
  },
  {
    name: 'invalid-fields',
    promise: 'a payment without a field, or with an amount that is no positive integer, is refused with 422 invalid_request',
    async run(trial) {
      for (const amount of [undefined, 0, -1, 2.5, '2500']) {
        const { reference, body, ...forged } = await payment(trial);
        const spoilt = JSON.stringify({ ...(JSON.parse(body) as object), amount });
        same(`the answer to the amount ${JSON.stringify(amount)}`, await trial.refusal({ ...forged, body: spoilt }), { status: 422, code: 'invalid_request' });
        same('payments under its reference', await trial.countOf(reference), 0);
      }
    },
  },
  {
    name: 'key-required',
    promise: 'a payment without an idempotency-key is refused with 422 invalid_request',
    async run(trial) {
      const { path, body } = await payment(trial);
      same('the answer', await trial.refusal({ path, body }), { status: 422, code: 'invalid_request' });
    },
  },
];
