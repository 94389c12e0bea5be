import { connect, type Database } from '../../libs/db/client.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

const card = (number: string, more: object = {}) => ({ card: { number, exp_month: 12, exp_year: 2040, cvc: '123', ...more } });
const goodCard = card('4242424242424242');

describe('payment methods', () => {
  let account: TestAccount;
  let database: Database;
  let firstConnection: string;

  async function eventsOf(publicId: string): Promise<{ type: string; previous: Record<string, unknown> | null; data: { status: string } }[]> {
    const query = 'select type, data_previous as previous, data from events where account_id = $1 and data::json ->> \'id\' = $2 order by sequence';
    const { rows } = await database.pool.query(query, [account.id, publicId]);
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
  }

  async function newCustomer(of: TestAccount = account): Promise<string> {
    const made = await of.operator.post('/customers/', { email: 'someone@example.com', first_name: 'Some', last_name: 'One', line1: 'Street 1', city: 'Town', state: 'XX', zip_code: '12345', country: 'DE' });
    expect(made.status).toBe(201);
    return made.body.id;
  }

  async function newMethod(body: object = goodCard): Promise<string> {
    const made = await account.operator.post('/payment-methods/', body);
    expect(made.status).toBe(201);
    return made.body.id;
  }

  async function rowsOf(table: string): Promise<number> {
    const { rows } = await database.pool.query(`select count(*)::int as n from ${table} where account_id = $1`, [account.id]);
    return rows[0].n;
  }

  beforeAll(async () => {
    account = await freshAccount();
    database = connect(shared.databaseUrlStaging, { max: 1 });
    firstConnection = (await account.admin.post('/payment-processors/', { name: 'A', kind: 'simulator' })).body.id;
  });

  afterAll(async () => database.close());

  it('are made from a test card: authorised, described, known to every simulator connection, announced once', async () => {
    const made = await account.operator.post('/payment-methods/', { ...card('4242 4242 4242 4242'), metadata: { colour: 'red' }, billing_address: { country: 'de' } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      object: 'payment_method', status: 'authorized', customer_id: null, provider: 'credit_card', card_brand: 'visa', card_type: 'credit',
      last_four: '4242', card_iin: '424242', expiry_date: '12/2040', display_name: 'Visa ending in 4242', metadata: { colour: 'red' },
      billing_address: { country: 'DE', line1: null }, mappings: [{ processor_id: firstConnection, processor_name: 'foobar' }],
      connections: [{ processor_id: firstConnection, kind: 'simulator', usable_without_customer: true }],
    });
    expect((await account.readOnly.get(`/payment-methods/${made.body.id}`)).body).toEqual(made.body);
    const events = await eventsOf(made.body.id);
    expect(events).toMatchObject([{ type: 'payment_method.created', previous: null, data: made.body }]);
  });

  it('reach a simulator connection that is made later, and leave one that is deleted', async () => {
    const id = await newMethod();
    const later = (await account.admin.post('/payment-processors/', { name: 'B', kind: 'simulator' })).body.id;
    const processors = async () => (await account.operator.get(`/payment-methods/${id}`)).body.mappings.map((mapping: { processor_id: string }) => mapping.processor_id);
    expect(await processors()).toEqual(expect.arrayContaining([firstConnection, later]));
    await account.admin.delete(`/payment-processors/${later}`);
    expect(await processors()).toEqual([firstConnection]);
  });

  it('and connections made at the same time never miss each other', async () => {
    const { operator, admin } = await freshAccount();
    await admin.post('/payment-processors/', { name: 'first', kind: 'simulator' });
    const making = Array.from({ length: 12 }, async (_, index) => {
      if (index % 4 === 1) await admin.post('/payment-processors/', { name: `beside ${index}`, kind: 'simulator' });
      else await operator.post('/payment-methods/', goodCard);
    });
    await Promise.all(making);
    const { data } = (await operator.post('/payment-methods/list')).body;
    expect(data.map((method: { mappings: unknown[] }) => method.mappings.length)).toEqual(Array.from({ length: 9 }, () => 4));
  });

  it.each([
    ['4000000000000002', 'do_not_honor'],
    ['4000000000009987', 'lost_card'],
    ['4000000000009979', 'stolen_card'],
    ['4000000000000069', 'expired_card'],
    ['4000000000000127', 'incorrect_cvc'],
  ])('%s is refused with 402 %s, and nothing is left behind', async (number, code) => {
    const before = await rowsOf('payment_methods');
    const eventsBefore = await rowsOf('events');
    const refused = await account.operator.post('/payment-methods/', card(number), { key: `refused-${number}` });
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 402, code });
    expect(await rowsOf('payment_methods')).toBe(before);
    expect(await rowsOf('events')).toBe(eventsBefore);
    const again = await account.operator.post('/payment-methods/', card(number), { key: `refused-${number}` });
    expect({ replayed: again.headers.get('idempotent-replayed'), text: again.text }).toEqual({ replayed: 'true', text: refused.text });
  });

  it.each([
    ['4000000000000341', 201],
    ['4000000000009995', 201],
    ['4100000000000019', 201],
    ['4000002760003184', 201],
  ])('%s is authorised, although its charges will fail or ask', async (number, status) => {
    expect((await account.operator.post('/payment-methods/', card(number))).status).toBe(status);
  });

  it('a card that has expired is refused as such', async () => {
    const refused = await account.operator.post('/payment-methods/', card('4242424242424242', { exp_year: 2020 }));
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 402, code: 'expired_card' });
  });

  it('a number that is no test card is refused before anything is stored or repeated', async () => {
    const before = await rowsOf('payment_methods');
    for (const number of ['4111111111111111', '4242424242424243', 'abcd', '5105105105105100']) {
      const refused = await account.operator.post('/payment-methods/', card(number), { key: `foreign-${number}` });
      expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 422, code: 'unknown_test_card' });
      expect(refused.body.errors[0].loc).toEqual(['body', 'card', 'number']);
      expect(refused.text).not.toContain(number);
    }
    expect(await rowsOf('payment_methods')).toBe(before);
    const keys = await database.pool.query('select key from idempotency_keys where account_id = $1 and key like $2', [account.id, 'foreign-%']);
    expect(keys.rows).toEqual([]);
  });

  it.each<[string, object, (string | number)[]]>([
    ['no source', {}, ['body', 'card']],
    ['both sources', { ...goodCard, processor_id: 'x', token: 'y' }, ['body', 'card']],
    ['a token without its connection', { token: 'y' }, ['body', 'processor_id']],
    ['a month that does not exist', card('4242424242424242', { exp_month: 13 }), ['body', 'card', 'exp_month']],
    ['a CVC that is none', card('4242424242424242', { cvc: '12a' }), ['body', 'card', 'cvc']],
    ['an unknown field', { ...goodCard, colour: 'red' }, ['body', 'colour']],
    ['an outcome that does not exist', { ...goodCard, custom_fields: { simulate: 'maybe' } }, ['body', 'custom_fields', 'simulate']],
    ['a connection that does not exist', { processor_id: 'processor_stg_nope', token: 'y' }, ['body', 'processor_id']],
  ])('%s is 422 at its place', async (_what, body, loc) => {
    const refused = await account.operator.post('/payment-methods/', body);
    expect(refused.status).toBe(422);
    expect(refused.body.errors[0].loc).toEqual(loc);
  });

  it('need a connection: without one 409 and nothing stored; in production no card at all', async () => {
    const lonely = await freshAccount();
    const refused = await lonely.operator.post('/payment-methods/', goodCard);
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'conflict' });
    const production = await freshAccount('production');
    const forbidden = await production.operator.post('/payment-methods/', goodCard);
    expect({ status: forbidden.status, loc: forbidden.body.errors[0].loc }).toEqual({ status: 422, loc: ['body', 'card'] });
    expect(forbidden.text).not.toContain('4242424242424242');
  });

  it('are authorised at the next connection when the first one gives no answer, and 503 when none does', async () => {
    const { operator, admin } = await freshAccount();
    const quick = { total_timeout_ms: 2_000 };
    const first = (await admin.post('/payment-processors/', { name: 'first', kind: 'simulator', settings: quick })).body.id;
    const second = (await admin.post('/payment-processors/', { name: 'second', kind: 'simulator', settings: quick })).body.id;
    const refusedThere = { ...goodCard, custom_fields: { simulate: { [first]: 'connection_refused' } } };
    expect((await operator.post('/payment-methods/', refusedThere)).status).toBe(201);
    const silent = { ...goodCard, custom_fields: { simulate: { [first]: 'timeout_before_charge', [second]: 'error_before_charge' } } };
    const unanswered = await operator.post('/payment-methods/', silent);
    expect({ status: unanswered.status, code: unanswered.body.code }).toEqual({ status: 503, code: 'processor_unavailable' });
    const declined = await operator.post('/payment-methods/', { ...goodCard, custom_fields: { simulate: 'suspected_fraud' } });
    expect({ status: declined.status, code: declined.body.code }).toEqual({ status: 402, code: 'suspected_fraud' });
    expect((await operator.post('/payment-methods/list')).body.total_objects).toBe(1);
  });

  it('go from authorized to attached to detached, and no other way', async () => {
    const id = await newMethod();
    const [customer, other] = [await newCustomer(), await newCustomer()];
    const attach = (to: string) => account.operator.post(`/payment-methods/${id}/attach`, { customer_id: to });
    const attached = await attach(customer);
    expect(attached.status).toBe(200);
    expect(attached.body).toMatchObject({ status: 'attached', customer_id: customer });
    for (const to of [customer, other]) {
      const refused = await attach(to);
      expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'invalid_state_transition' });
      expect(refused.body.detail).toContain('attached');
    }
    const detached = await account.operator.post(`/payment-methods/${id}/detach`);
    expect(detached.body).toMatchObject({ status: 'detached', customer_id: customer });
    expect((await account.operator.post(`/payment-methods/${id}/detach`)).status).toBe(409);
    expect((await attach(customer)).status).toBe(409);
    expect((await account.operator.post('/payment-methods/authorize', { payment_method_id: id })).status).toBe(409);
    const events = await eventsOf(id);
    expect(events.map((event) => [event.type, event.data.status, event.previous?.status ?? null])).toEqual([
      ['payment_method.created', 'authorized', null],
      ['payment_method.attached', 'attached', 'authorized'],
      ['payment_method.detached', 'detached', 'attached'],
    ]);
  });

  it('may be detached without ever having been attached', async () => {
    const detached = await account.operator.post(`/payment-methods/${await newMethod()}/detach`);
    expect(detached.body).toMatchObject({ status: 'detached', customer_id: null });
  });

  it('are attached once by twenty callers at once, and by a repeated key without a second event', async () => {
    const customer = await newCustomer();
    const id = await newMethod();
    const answers = await Promise.all(Array.from({ length: 20 }, () => account.operator.post(`/payment-methods/${id}/attach`, { customer_id: customer })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    const keyed = await newMethod();
    const attach = () => account.operator.post(`/payment-methods/${keyed}/attach`, { customer_id: customer }, { key: `attach-${keyed}` });
    const [first, second] = [await attach(), await attach()];
    expect(second.text).toBe(first.text);
    expect(await eventsOf(keyed)).toHaveLength(2);
  });

  it('refuse a customer of another account or none with 422', async () => {
    const id = await newMethod();
    const stranger = await freshAccount();
    for (const customer_id of [await newCustomer(stranger), 'cus_stg_nope', (await newMethod())]) {
      const refused = await account.operator.post(`/payment-methods/${id}/attach`, { customer_id });
      expect({ status: refused.status, loc: refused.body.errors?.[0].loc }).toEqual({ status: 422, loc: ['body', 'customer_id'] });
    }
    expect((await account.operator.post(`/payment-methods/${id}/attach`)).status).toBe(422);
  });

  it('are authorised again without changing their status; a decline is 402', async () => {
    const id = await newMethod();
    const again = await account.operator.post('/payment-methods/authorize', { payment_method_id: id, authorize_amount_atom: 500, currency: 'eur' });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id, status: 'authorized' });
    expect((await eventsOf(id)).map((event) => event.type)).toEqual(['payment_method.created', 'payment_method.authorized']);
    const { rows } = await database.pool.query('select id from payment_methods where account_id = $1 order by id desc limit 1', [account.id]);
    await database.pool.query('update payment_methods set custom_fields = $2 where id = $1', [rows[0].id, { simulate: 'insufficient_funds' }]);
    const declined = await account.operator.post('/payment-methods/authorize', { payment_method_id: id });
    expect({ status: declined.status, code: declined.body.code }).toEqual({ status: 402, code: 'insufficient_funds' });
    const unknown = await account.operator.post('/payment-methods/authorize', { payment_method_id: firstConnection });
    expect({ status: unknown.status, loc: unknown.body.errors[0].loc }).toEqual({ status: 422, loc: ['body', 'payment_method_id'] });
  });

  it('take a mapping of another connection once', async () => {
    const { operator, admin } = await freshAccount();
    const known = (await admin.post('/payment-processors/', { name: 'known', kind: 'simulator' })).body.id;
    const id = (await operator.post('/payment-methods/', goodCard)).body.id;
    const path = `/payment-methods/${id}/mappings`;
    const twice = await operator.post(path, { processor_id: known, their_payment_method_id: 'x' });
    expect(twice.status).toBe(409);
    const stranger = await operator.post(path, { processor_id: firstConnection, their_payment_method_id: 'x' });
    expect({ status: stranger.status, loc: stranger.body.errors[0].loc }).toEqual({ status: 422, loc: ['body', 'processor_id'] });
    const method = (await operator.get(`/payment-methods/${id}`)).body;
    expect(method.mappings).toHaveLength(1);
  });

  it('are listed by customer, by status, by page and by cursor', async () => {
    const customer = await newCustomer();
    const ids = [await newMethod(), await newMethod(card('5555555555554444')), await newMethod()];
    for (const id of ids.slice(0, 2)) await account.operator.post(`/payment-methods/${id}/attach`, { customer_id: customer });
    const ofCustomer = await account.readOnly.post(`/customers/${customer}/payment-methods`, { page_size: 1, sort_descending: true });
    expect(ofCustomer.status).toBe(200);
    expect(ofCustomer.body).toMatchObject({ total_objects: 2, page_size: 1, data: [{ id: ids[1], card_brand: 'mastercard', mappings: [{}] }] });
    const attached = await account.readOnly.post('/payment-methods/list', { status: 'attached', customer_id: customer });
    expect(attached.body.total_objects).toBe(2);
    const newest = await account.readOnly.get('/payment-methods?limit=1');
    expect(newest.body).toMatchObject({ has_more: true, data: [{ id: ids[2] }] });
    const next = await account.readOnly.get(`/payment-methods?limit=1&cursor=${newest.body.next_cursor}`);
    expect(next.body.data[0].id).toBe(ids[1]);
    const stranger = await freshAccount();
    expect((await stranger.readOnly.post(`/customers/${customer}/payment-methods`)).status).toBe(404);
  });

  it('belong to their account, and to tokens that may write', async () => {
    const id = await newMethod();
    const stranger = await freshAccount();
    const calls: [string, object][] = [
      [`/payment-methods/${id}/attach`, { customer_id: await newCustomer(stranger) }],
      [`/payment-methods/${id}/detach`, {}],
      [`/payment-methods/${id}/mappings`, { processor_id: firstConnection, their_payment_method_id: 'x' }],
    ];
    for (const [path, body] of calls) {
      expect((await stranger.operator.post(path, body)).status).toBe(404);
      expect((await account.readOnly.post(path, body)).status).toBe(403);
      expect((await account.readOnly.as(null).post(path, body)).status).toBe(401);
    }
    expect((await stranger.readOnly.get(`/payment-methods/${id}`)).status).toBe(404);
    expect((await account.readOnly.post('/payment-methods/', goodCard)).status).toBe(403);
    expect((await account.readOnly.post('/payment-methods/authorize', { payment_method_id: id })).status).toBe(403);
    expect((await account.operator.get('/payment-methods/pm_prod_01m7yy0fcbfvmvgrw3c8x3mb0m')).status).toBe(404);
  });
});
