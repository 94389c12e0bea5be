import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect } from '../../libs/db/client.js';
import { adjustBalance } from '../../libs/db/customer-balance.writes.js';
import { newId } from '../../libs/db/mint.js';
import { parsePublicId, publicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

let account: TestAccount;
beforeAll(async () => {
  account = await freshAccount();
});

const full = {
  email: 'ada@example.com', billing_email: 'bills@example.com', first_name: 'Ada', last_name: 'L', business_name: 'Engines', phone_number: '+44 1',
  notes: 'n', language: 'en', line1: '1 Row', line2: null, city: 'London', state: 'LDN', zip_code: 'N1', country: 'gb',
  customer_billing_address: { line1: '2 Row', country: 'GB' }, shipping_addresses: [{ line1: '3 Row' }],
  invoice_settings: { customer_tax_ids: [{ tax_id: 'GB123', tax_id_type: 'gb_vat' }], default_net_d: 14, email_receipt_on_paid: true },
  custom_fields: { plan: 'gold', deep: { a: { b: 1 } } }, metadata: { ref: 7 },
};

async function eventsOf(objectId: string) {
  const { body } = await account.admin.post('/events/search', { object_id: objectId, sort_descending: false });
  return body.data as { type: string; sequence: number; data: Record<string, unknown>; data_previous: Record<string, unknown> | null }[];
}

describe('customers', () => {
  it('keeps every published field', async () => {
    const made = await account.operator.post('/customers/', full);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      object: 'customer', account_id: account.publicId, email: 'ada@example.com', billing_email: 'bills@example.com', first_name: 'Ada',
      business_name: 'Engines', language: 'en', should_send_payment_receipt: true, default_payment_method_id: null, status: 'inactive',
      address: { line1: '1 Row', line2: null, line3: null, city: 'London', state: 'LDN', zip_code: 'N1', country: 'GB' },
      customer_billing_address: { line1: '2 Row', country: 'GB', city: null }, shipping_addresses: [{ line1: '3 Row', country: null }],
      invoice_settings: full.invoice_settings, custom_fields: full.custom_fields, metadata: full.metadata,
      balance_atoms: [], total_spent: [], total_refunds: [], is_deleted: false,
    });
    expect(made.body.id).toMatch(/^cus_stg_[0-9a-z]{26}$/);
    expect((await account.readOnly.get(`/customers/${made.body.id}?expand=subscriptions&expand=discount`)).body).toEqual(made.body);
  });

  it('changes what is given, keeps the rest, clears with null, and tells by event', async () => {
    const { id } = (await account.operator.post('/customers/', full)).body;
    const changed = await account.operator.put(`/customers/${id}/`, { first_name: 'Augusta', notes: null, city: 'Paris', language: null });
    expect(changed.status).toBe(201);
    expect(changed.body).toMatchObject({ first_name: 'Augusta', notes: null, last_name: 'L', address: { line1: '1 Row', city: 'Paris' } });
    expect(changed.body).not.toHaveProperty('language');
    const kept = await account.operator.put(`/customers/${id}`, { first_name: 'Augusta', email: null });
    expect(kept.body.email).toBe(changed.body.email);
    const events = await eventsOf(id);
    expect(events.map((event) => [event.type, event.sequence])).toEqual([['customer.created', 1], ['customer.updated', 2]]);
    expect(events[0]).toMatchObject({ data: { id, email: full.email }, data_previous: null });
    expect(events[0]!.data).not.toHaveProperty('total_spent');
    expect(events[1]!.data_previous).toMatchObject({ first_name: 'Ada', notes: 'n', language: 'en' });
    expect(Object.keys(events[1]!.data_previous!).sort()).toEqual(['address', 'first_name', 'language', 'notes', 'updated_at']);
  });

  it('is gone after its deletion', async () => {
    const { id } = (await account.operator.post('/customers/', { email: 'gone@example.com' })).body;
    expect((await account.operator.delete(`/customers/${id}`)).status).toBe(200);
    expect((await account.operator.get(`/customers/${id}`)).status).toBe(404);
    expect((await account.operator.delete(`/customers/${id}`)).status).toBe(404);
    expect((await account.operator.post('/customers/list', { email: 'gone@example.com' })).body.total_objects).toBe(0);
    expect((await eventsOf(id)).map((event) => event.type)).toEqual(['customer.created', 'customer.deleted']);
  });

  it.each([
    [{}, ['email']],
    [{ email: 'nonsense' }, ['email']],
    [{ email: 'a@example.com', country: 'Germany' }, ['country']],
    [{ email: 'a@example.com', language: 'klingon' }, ['language']],
    [{ email: 'a@example.com', default_payment_method_id: 'pm_stg_x' }, ['default_payment_method_id']],
    [{ email: 'a@example.com', coupon_id: 'coupon_stg_x' }, ['coupon_id']],
    [{ email: 'a@example.com', custom_fields: { '1bad': 1 } }, ['custom_fields', '1bad']],
    [{ email: 'a@example.com', custom_fields: { a: [] } }, ['custom_fields', 'a']],
    [{ email: 'a@example.com', custom_fields: { a: { b: { c: { d: 1 } } } } }, ['custom_fields', 'a', 'b', 'c']],
    [{ email: 'a@example.com', metadata: { a: 1e300 } }, ['metadata', 'a']],
    [{ email: 'a@example.com', metadata: { a: 2 ** 53 } }, ['metadata', 'a']],
    [{ email: 'a@example.com', metadata: { a: 0.00001 } }, ['metadata', 'a']],
    [{ email: 'a@example.com', metadata: { a: 'x'.repeat(16_384) } }, ['metadata']],
    [{ email: 'a@example.com', shipping_addresses: [{ planet: 'Mars' }] }, ['shipping_addresses', 0, 'planet']],
  ])('refuses %j', async (body, loc) => {
    const answer = await account.operator.post('/customers/', body);
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
    expect(answer.body.errors[0].loc).toEqual(['body', ...loc]);
  });

  it('takes metadata at its limits', async () => {
    const metadata = { a: 2 ** 53 - 1, b: -1.5, c: 0, d: 0.0001, e: true, f: null, ['k'.padEnd(64, 'x')]: 'ü', 'A b_c.d:e-f': '' };
    const made = await account.operator.post('/customers/', { email: 'a@example.com', metadata });
    expect([made.status, made.body.metadata]).toEqual([201, metadata]);
  });

  it('belongs to its account', async () => {
    const other = await freshAccount();
    const { id } = (await account.operator.post('/customers/', { email: 'a@example.com' })).body;
    for (const answer of [await other.admin.get(`/customers/${id}`), await other.admin.put(`/customers/${id}`, {}), await other.admin.delete(`/customers/${id}`)]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    }
    expect((await other.admin.post('/customers/list')).body.total_objects).toBe(0);
    expect((await other.admin.get('/customers')).body.data).toEqual([]);
  });
});

describe('lists', () => {
  let own: TestAccount;
  const ids: string[] = [];
  beforeAll(async () => {
    own = await freshAccount();
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await own.operator.post('/customers/', { email: `${name}@example.com`, first_name: name })).body.id);
  });
  const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map((row) => row.id);

  it('by page number', async () => {
    const first = await own.readOnly.post('/customers/list', { page_size: 2 });
    expect([first.status, first.body.page_number, first.body.page_size, first.body.total_objects]).toEqual([200, 1, 2, 5]);
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    expect(idsOf(await own.readOnly.post('/customers/list', { page_size: 2, page_number: 3 }))).toEqual(ids.slice(4));
    expect(idsOf(await own.readOnly.post('/customers/list', { page_size: 2, page_number: 2 ** 31 - 1 }))).toEqual([]);
    expect(idsOf(await own.readOnly.post('/customers/list', { sort_key: 'email', sort_descending: true, page_size: 1 }))).toEqual(ids.slice(4));
  });

  it('by filters', async () => {
    expect(idsOf(await own.readOnly.post('/customers/list', { email: 'b@example.com' }))).toEqual([ids[1]]);
    expect(idsOf(await own.readOnly.post('/customers/list', { emails: ['b@example.com', 'd@example.com'] }))).toEqual([ids[1], ids[3]]);
    expect(idsOf(await own.readOnly.post('/customers/list', { search: { ilike: 'C@%' } }))).toEqual([ids[2]]);
    expect(idsOf(await own.readOnly.post('/customers/list', { search: { ilike: '\\' } }))).toEqual([]);
    const { created_at: at } = (await own.readOnly.get(`/customers/${ids[2]}`)).body;
    expect(idsOf(await own.readOnly.post('/customers/list', { created_at: { gte: at } }))).toEqual(ids.slice(2));
    expect(idsOf(await own.readOnly.post('/customers/list', { created_at: { lt: at } }))).toEqual(ids.slice(0, 2));
  });

  it('by cursor, newest first, without gaps while rows are added', async () => {
    const seen: string[] = [];
    let path = '/customers?limit=2';
    for (;;) {
      const page = (await own.readOnly.get(path)).body;
      seen.push(...page.data.map((row: { id: string }) => row.id));
      expect(page.has_more).toBe(page.next_cursor !== null);
      if (!page.has_more) break;
      path = `/customers?limit=2&cursor=${page.next_cursor}`;
    }
    expect(seen).toEqual([...ids].reverse());
  });

  it.each(['page_size=0', 'limit=0', 'limit=101', 'limit=x', 'cursor=x', 'colour=red', 'limit=1&limit=2', 'email=%00'])('refuse the query %s', async (query) => {
    const answer = await own.readOnly.get(`/customers?${query}`);
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
    expect(answer.body.errors[0].loc[0]).toBe('query');
  });

  it('name an unknown reference where it stands: in the query of a GET, in the body of a POST', async () => {
    const reads = await Promise.all(['/payment-methods', '/invoices', '/subscriptions'].map((path) => own.readOnly.get(`${path}?customer_id=cus_stg_x`)));
    for (const { status, body } of reads) expect([status, body.errors[0].loc]).toEqual([422, ['query', 'customer_id']]);
    expect((await own.readOnly.post('/payment-methods/list', { customer_id: 'cus_stg_x' })).body.errors[0].loc).toEqual(['body', 'customer_id']);
  });

  it.each([{ page_size: 101 }, { page_number: 0 }, { page_number: 1.5 }, { sort_key: 'notes' }, { created_at: { gt: 'yesterday' } }, { since: 1 }])('refuse the body %j', async (body) => {
    expect((await own.readOnly.post('/customers/list', body)).status).toBe(422);
  });
});

describe('balance transactions', () => {
  let customer: string;
  let path: string;
  beforeEach(async () => {
    customer = (await account.operator.post('/customers/', { email: 'credit@example.com' })).body.id;
    path = `/customers/${customer}/balance-transactions`;
  });
  const endings = async () => (await account.readOnly.get(path)).body.map((row: { ending_balance_amount_atom: number }) => row.ending_balance_amount_atom);

  it('adjust the credit per currency, each with its event, and are listed newest first', async () => {
    const first = await account.operator.post(path, { amount_atom: 500, currency: 'eur', description: 'Sorry' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      object: 'customer_balance_transaction', customer_id: customer, account_id: account.publicId, amount_atom: 500, currency: 'eur', type: 'adjustment',
      ending_balance_amount_atom: 500, description: 'Sorry', invoice_id: null, credit_note_id: null, is_deleted: false,
    });
    expect(first.body.id).toMatch(/^cbt_stg_[0-9a-z]{26}$/);
    const second = await account.admin.post(path, { amount_atom: -200, currency: 'eur' });
    expect(second.body).toMatchObject({ amount_atom: -200, ending_balance_amount_atom: 300, description: null });
    const third = await account.admin.post(path, { amount_atom: 7 });
    expect(third.body).toMatchObject({ currency: 'usd', ending_balance_amount_atom: 7 });
    expect((await account.readOnly.get(path)).body).toEqual([third.body, second.body, first.body]);
    expect((await account.readOnly.get(`${path}/${second.body.id}`)).body).toEqual(second.body);
    const { balance_atoms: balances } = (await account.readOnly.get(`/customers/${customer}`)).body;
    expect(balances).toEqual(expect.arrayContaining([{ amount_atom: 300, currency: 'eur' }, { amount_atom: 7, currency: 'usd' }]));
    expect(await eventsOf(first.body.id)).toMatchObject([{ type: 'customer_balance_transaction.created', sequence: 1, data: first.body, data_previous: null }]);
  });

  it('happen once per idempotency key, and one after the other', async () => {
    const keyed = Array.from({ length: 4 }, () => account.operator.post(path, { amount_atom: 5 }, { key: `credit ${customer}` }));
    expect((await Promise.all(keyed)).map(({ status }) => [201, 409].includes(status))).toEqual([true, true, true, true]);
    const again = await account.operator.post(path, { amount_atom: 5 }, { key: `credit ${customer}` });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(await endings()).toEqual([5]);
    await Promise.all(Array.from({ length: 6 }, () => account.operator.post(path, { amount_atom: 10 })));
    expect((await endings()).sort((x: number, y: number) => x - y)).toEqual([5, 15, 25, 35, 45, 55, 65]);
    const drained = await Promise.all(Array.from({ length: 3 }, () => account.operator.post(path, { amount_atom: -30 })));
    expect(drained.map(({ status }) => status).sort()).toEqual([201, 201, 422]);
  });

  it('are found by a retry of the same command, and rolled back with their event', async () => {
    const database = connect(shared.databaseUrlStaging, { max: 1 });
    try {
      const change = systemChange('staging', account.id);
      const customerId = parsePublicId('cus', 'staging', customer)!;
      const wish = { id: newId(), customerId, currency: 'eur', amountAtom: 5, description: null };
      const failing = transact(database.db, change, async (tx) => {
        await adjustBalance(tx, change, wish);
        throw new Error('dies here');
      });
      await expect(failing).rejects.toThrow('dies here');
      expect(await endings()).toEqual([]);
      const rows = [];
      for (let run = 0; run < 2; run++) rows.push(await transact(database.db, change, (tx) => adjustBalance(tx, change, wish)));
      expect(rows[1]).toEqual(rows[0]);
      expect(await endings()).toEqual([5]);
      expect(await eventsOf(publicId('cbt', 'staging', wish.id))).toHaveLength(1);
    } finally {
      await database.close();
    }
  });

  it.each([
    [{}, 'amount_atom'], [{ amount_atom: 0 }, 'amount_atom'], [{ amount_atom: 1.5 }, 'amount_atom'], [{ amount_atom: 2 ** 53 }, 'amount_atom'],
    [{ amount_atom: -1 }, 'amount_atom'], [{ amount_atom: 1, currency: 'EUR' }, 'currency'], [{ amount_atom: 1, currency: null }, 'currency'],
    [{ amount_atom: 1, type: 'initial' }, 'type'],
  ])('refuse %j', async (body, field) => {
    const answer = await account.operator.post(path, body);
    expect([answer.status, answer.body.errors?.[0].loc]).toEqual([422, ['body', field]]);
    expect(await endings()).toEqual([]);
  });

  it('never add up to more than a number holds', async () => {
    expect((await account.operator.post(path, { amount_atom: 2 ** 53 - 1 })).status).toBe(201);
    const answer = await account.operator.post(path, { amount_atom: 1 });
    expect([answer.status, answer.body.errors?.[0].loc]).toEqual([422, ['body', 'amount_atom']]);
  });

  it('belong to their customer and account', async () => {
    const other = await freshAccount();
    const { id } = (await account.operator.post(path, { amount_atom: 5 })).body;
    expect((await account.readOnly.post(path, { amount_atom: 5 })).status).toBe(403);
    const sibling = (await account.operator.post('/customers/', { email: 'sibling@example.com' })).body.id;
    for (const answer of [
      await other.admin.get(path), await other.admin.get(`${path}/${id}`), await other.admin.post(path, { amount_atom: 5 }),
      await account.admin.get(`/customers/${sibling}/balance-transactions/${id}`), await account.admin.get(`${path}/${customer}`),
    ]) expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    expect((await account.readOnly.get(`${path}?limit=1`)).status).toBe(422);
    await account.operator.delete(`/customers/${customer}`);
    expect((await account.operator.post(path, { amount_atom: 5 })).status).toBe(404);
  });
});
