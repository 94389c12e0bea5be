import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { hidePaymentMethod, sweepHiddenMethods } from '../../libs/db/payment-method.writes.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { testCards } from '../../libs/processors/simulator/test-card.js';
import { createProcessorRegistry } from '../../libs/processors/registry.js';
import type { ProcessorAdapter } from '../../libs/processors/port.js';
import { tokenisePaymentMethod, type TokeniseDeps } from '../../libs/payments/tokenise.js';
import { publicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

const source = { card: { number: '4242424242424242', expMonth: 12, expYear: 2040, cvc: '987' } };

describe('a tokenisation that is interrupted', () => {
  let account: TestAccount;
  let database: Database;
  let deps: TokeniseDeps;

  beforeAll(async () => {
    account = await freshAccount();
    database = connect(shared.databaseUrlStaging, { max: 4 });
    const [id, encoded] = shared.secretKeysStaging.split(',')[0]!.split(':') as [string, string];
    deps = {
      db: database.db,
      environment: 'staging',
      secrets: createSecretBox([{ id, key: Buffer.from(encoded, 'base64') }]),
      processors: createProcessorRegistry('staging', { simulatorUrl: shared.simulatorUrl }),
    };
    await account.admin.post('/payment-processors/', { name: 'A', kind: 'simulator' });
  });

  afterAll(async () => {
    await deps.processors.close();
    await database.close();
  });

  /** The process dies after this method of the adapter has done its work. */
  function dyingAfter(step: 'tokenise' | 'verify'): TokeniseDeps {
    const real = deps.processors;
    const processorFor = (kind: Parameters<typeof real.processorFor>[0]): ProcessorAdapter =>
      new Proxy(real.processorFor(kind), {
        get(adapter, name) {
          const member = Reflect.get(adapter, name) as unknown;
          if (name !== step) return typeof member === 'function' ? (member as () => unknown).bind(adapter) : member;
          return async (...call: Parameters<ProcessorAdapter['tokenise']>) => {
            await (member as ProcessorAdapter['tokenise']).apply(adapter, call);
            throw new Error('killed');
          };
        },
      });
    return { ...deps, processors: { ...real, processorFor } };
  }

  async function state(id: string) {
    const { rows } = await database.pool.query(
      'select (select count(*)::int from payment_methods where id = $1) as methods, (select count(*)::int from payment_methods where id = $1 and shown_at is not null) as shown, (select count(*)::int from events where object_id = $1) as events',
      [id],
    );
    return rows[0];
  }

  async function tokensOf(id: string): Promise<number> {
    const { data } = (await (await fetch(`${shared.simulatorUrl}/ledger`)).json()) as { data: { type: string; cause?: { key: string } }[] };
    const method = await database.pool.query('select id from payment_methods where id = $1', [id]);
    expect(method.rows).toHaveLength(1);
    return data.filter((entry) => entry.type === 'payment_method' && entry.cause?.key === `${publicIdOf(id)}_tokenise`).length;
  }

  it.each(['tokenise', 'verify'] as const)('after %s leaves a hidden row; the retry makes the same method with the same token', async (step) => {
    const change = systemChange('staging', account.id);
    const id = newId();
    await expect(tokenisePaymentMethod(dyingAfter(step), change, { id, source })).rejects.toThrow('killed');
    expect(await state(id)).toEqual({ methods: 1, shown: 0, events: 0 });
    expect((await account.operator.get(`/payment-methods/${publicIdOf(id)}`)).status).toBe(404);

    const made = await tokenisePaymentMethod(deps, change, { id, source });
    expect(await state(id)).toEqual({ methods: 1, shown: 1, events: 1 });
    expect(await tokenisePaymentMethod(deps, change, { id, source })).toEqual(made);
    expect(await state(id)).toEqual({ methods: 1, shown: 1, events: 1 });
    expect(await tokensOf(id)).toBe(1);
  });

  it('and never retried is swept when it is old, and may still be finished after that', async () => {
    const change = systemChange('staging', account.id);
    const id = newId();
    const hidden = { id, displayName: '', billingAddress: null, customFields: null, metadata: null };
    await transact(database.db, change, (tx) => hidePaymentMethod(tx, change, hidden));
    await sweepHiddenMethods(database.db, { olderThanMs: 900_000 });
    expect(await state(id)).toMatchObject({ methods: 1 });
    await database.pool.query('update payment_methods set created_at = created_at - interval \'1 hour\' where id = $1', [id]);
    expect(await sweepHiddenMethods(database.db, { olderThanMs: 900_000 })).toBeGreaterThanOrEqual(1);
    expect(await state(id)).toEqual({ methods: 0, shown: 0, events: 0 });
    await tokenisePaymentMethod(deps, change, { id, source });
    expect(await state(id)).toEqual({ methods: 1, shown: 1, events: 1 });
  });

  it('never leaves a card number in a log, neither of a good card nor of one that was refused', async () => {
    const foreign = '4111111111111111';
    for (const number of [...testCards.map((known) => known.number), foreign]) {
      await account.operator.post('/payment-methods/', { card: { number, exp_month: 12, exp_year: 2040, cvc: '987' } });
      await account.operator.post('/payment-methods/', { card: { number, exp_month: 99, exp_year: 2040, cvc: '987' } });
    }
    const folder = join(shared.home, 'logs');
    const logs = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
    expect(logs.some((text) => text.includes('/payment-methods'))).toBe(true);
    expect([...testCards, { number: foreign }].filter(({ number }) => logs.some((text) => text.includes(number)))).toEqual([]);
  });

  it('never leaves a card number, expiry or CVC in the database or in the simulator\'s ledger', async () => {
    const change = systemChange('staging', account.id);
    await tokenisePaymentMethod(deps, change, { id: newId(), source });
    const ledger = await readFile(`${shared.home}/simulator/ledger.jsonl`, 'utf8');
    expect(testCards.filter(({ number }) => ledger.includes(number))).toEqual([]);
    for (const word of ['"cvc"', 'exp_month', 'exp_year', '"number"']) expect(ledger.includes(word)).toBe(false);
    const { rows } = await database.pool.query('select to_jsonb(m)::text as text from payment_methods m where account_id = $1', [account.id]);
    expect(rows.filter((row) => row.text.includes(source.card.number))).toEqual([]);
  });
});

function publicIdOf(id: string): string {
  return publicId('pm', 'staging', id);
}
