import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database, type Tx } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { attachPaymentMethod, detachPaymentMethod, hidePaymentMethod, importMapping, noteAuthorisation, showPaymentMethod } from '../../libs/db/payment-method.writes.js';
import { createProcessor, deleteProcessor, updateProcessor } from '../../libs/db/processor.writes.js';
import { customers } from '../../libs/db/schema/index.js';
import type { Change } from '../../libs/domain/change/change.js';
import { publicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

type Write = (tx: Tx, change: Change) => Promise<object>;

describe('writes of connections and payment methods', () => {
  let account: TestAccount;
  let database: Database;

  beforeAll(async () => {
    account = await freshAccount();
    database = connect(shared.databaseUrlStaging, { max: 2 });
  });

  afterAll(async () => database.close());

  const write = <T>(change: Change, work: (tx: Tx) => Promise<T>) => transact(database.db, change, work);
  const change = () => systemChange('staging', account.id);

  /** A connection of a kind that shares no vault, so that nothing is mapped by itself. */
  async function connection(kind: 'simulator' | 'http' = 'http'): Promise<string> {
    const id = newId();
    const made = { id, name: 'Own', kind, settings: null, credentialsSealed: null, isEnabled: true };
    await write(change(), (tx) => createProcessor(tx, systemChange('staging', account.id), made));
    return id;
  }

  async function customer(): Promise<string> {
    const [id, now] = [newId(), new Date()];
    const address = { line1: null, line2: null, line3: null, city: null, state: null, zip_code: null, country: null };
    await database.db.insert(customers).values({ id, accountId: account.id, email: 'a@example.com', address, createdAt: now, updatedAt: now });
    return id;
  }

  async function method(): Promise<{ id: string; processorId: string }> {
    const [id, processorId, by] = [newId(), await connection(), change()];
    await write(by, (tx) => showPaymentMethod(tx, by, shown(id, processorId)));
    return { id, processorId };
  }

  function shown(id: string, processorId: string) {
    const card = { cardBrand: 'visa', cardFunding: 'credit', cardCountry: null, cardIin: null, lastFour: '4242', expMonth: 1, expYear: 2040, fingerprint: null };
    const about = { id, displayName: 'Card', billingAddress: null, customFields: null, metadata: null };
    const credential = { theirPaymentMethodId: 'theirs', networkTransactionId: null, fingerprint: null };
    return { method: { ...about, ...card, provider: 'credit_card' }, credential, processorId, attachTo: null };
  }

  async function factsOf(objectId: string): Promise<object> {
    const { rows } = await database.pool.query(
      `select (select to_jsonb(m) from payment_methods m where m.id = $1) as method, (select to_jsonb(p) from payment_processors p where p.id = $1) as processor,
              (select jsonb_agg(x order by x.id) from payment_method_mappings x where x.payment_method_id = $1) as mappings,
              (select count(*)::int from events e where e.object_id = $1) as events`,
      [objectId],
    );
    return rows[0];
  }

  const cases: [name: string, prepare: () => Promise<{ objectId: string; run: Write }>][] = [
    ['createProcessor', async () => {
      const objectId = newId();
      const made = { id: objectId, name: 'A', kind: 'simulator' as const, settings: null, credentialsSealed: null, isEnabled: true };
      return { objectId, run: (tx, by) => createProcessor(tx, by, made) };
    }],
    ['updateProcessor', async () => {
      const objectId = await connection();
      return { objectId, run: (tx, by) => updateProcessor(tx, by, { id: objectId, patch: { name: 'B' } }) };
    }],
    ['deleteProcessor', async () => {
      const objectId = await connection();
      return { objectId, run: (tx, by) => deleteProcessor(tx, by, objectId) };
    }],
    ['showPaymentMethod', async () => {
      const [objectId, processorId, by] = [newId(), await connection(), change()];
      const hidden = { id: objectId, displayName: '', billingAddress: null, customFields: null, metadata: null };
      await write(by, (tx) => hidePaymentMethod(tx, by, hidden));
      return { objectId, run: (tx, again) => showPaymentMethod(tx, again, shown(objectId, processorId)) };
    }],
    ['attachPaymentMethod', async () => {
      const [{ id }, customerId] = [await method(), await customer()];
      return { objectId: id, run: (tx, by) => attachPaymentMethod(tx, by, { id, customerId }) };
    }],
    ['detachPaymentMethod', async () => {
      const { id } = await method();
      return { objectId: id, run: (tx, by) => detachPaymentMethod(tx, by, id) };
    }],
    ['noteAuthorisation', async () => {
      const { id, processorId } = await method();
      return { objectId: id, run: (tx, by) => noteAuthorisation(tx, by, { id, processorId, networkTransactionId: 'ntid' }) };
    }],
    ['importMapping', async () => {
      const [{ id }, processorId] = [await method(), await connection()];
      return { objectId: id, run: (tx, by) => importMapping(tx, by, { methodId: id, processorId, theirPaymentMethodId: 'x', networkTransactionId: null, fingerprint: null }) };
    }],
  ];

  it.each(cases)('%s: row and event together, a second run adds nothing, a failure leaves nothing', async (_name, prepare) => {
    const { objectId, run } = await prepare();
    const before = await factsOf(objectId);
    const failing = change();
    const failed = write(failing, async (tx) => {
      await run(tx, failing);
      throw new Error('later in the transaction');
    });
    await expect(failed).rejects.toThrow('later in the transaction');
    expect(await factsOf(objectId)).toEqual(before);

    const by = change();
    const result = await write(by, (tx) => run(tx, by));
    const after = await factsOf(objectId);
    expect(after).toMatchObject({ events: (before as { events: number }).events + 1 });
    expect(after).not.toEqual(before);
    expect(JSON.parse(JSON.stringify(await write(by, (tx) => run(tx, by))))).toEqual(JSON.parse(JSON.stringify(result)));
    expect(await factsOf(objectId)).toEqual(after);
  });

  it('a mapping of a kind without a published name stands among the connections, with its true kind', async () => {
    const [{ id }, processorId] = [await method(), await connection('http')];
    const path = `/payment-methods/${publicId('pm', 'staging', id)}`;
    const body = { processor_id: publicId('processor', 'staging', processorId), their_payment_method_id: 'theirs', network_transaction_id: 'ntid' };
    const imported = await account.operator.post(`${path}/mappings`, body);
    expect({ status: imported.status, processor: imported.body.processor_id }).toEqual({ status: 201, processor: body.processor_id });
    expect((await account.operator.post(`${path}/mappings`, body)).status).toBe(409);
    const { mappings, connections } = (await account.operator.get(path)).body;
    expect(mappings).toEqual([]);
    expect(connections).toContainEqual(expect.objectContaining({ processor_id: body.processor_id, kind: 'http', usable_without_customer: true }));
  });
});
