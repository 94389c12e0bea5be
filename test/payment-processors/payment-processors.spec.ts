import { connect, type Database } from '../../libs/db/client.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

describe('payment processors', () => {
  let account: TestAccount;
  let database: Database;

  beforeAll(async () => {
    account = await freshAccount();
    database = connect(shared.databaseUrlStaging, { max: 1 });
  });

  afterAll(async () => database.close());

  const create = (body: object = {}) => account.admin.post('/payment-processors/', { name: 'Simulator A', kind: 'simulator', ...body });

  it('are made, read, changed, listed and deleted, each step an event', async () => {
    const made = await create({ settings: { outcome: 'do_not_honor', total_timeout_ms: 500 } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ object: 'payment_processor', kind: 'simulator', processor_name: 'foobar', is_enabled: true, is_deleted: false });
    expect(made.body.id).toMatch(/^processor_stg_[0-9a-z]{26}$/);
    const path = `/payment-processors/${made.body.id}`;
    const health = { status: 'ok', since: null, error_rate: null, samples: 0 };
    expect((await account.readOnly.get(path)).body).toEqual({ ...made.body, health });

    const changed = await account.admin.put(path, { name: 'Renamed', settings: null, is_enabled: false });
    expect(changed.body).toMatchObject({ name: 'Renamed', settings: {}, is_enabled: false });
    const unchanged = await account.admin.put(path, { name: 'Renamed' });
    expect(unchanged.body.updated_at).toBe(changed.body.updated_at);

    const listed = await account.readOnly.post('/payment-processors/list', { is_enabled: false });
    expect(listed.status).toBe(200);
    expect(listed.body).toMatchObject({ page_number: 1, total_objects: 1, data: [{ id: made.body.id }] });
    expect((await account.readOnly.get('/payment-processors?limit=1&kind=simulator')).body.data).toHaveLength(1);

    expect((await account.admin.delete(path)).body).toMatchObject({ is_deleted: true });
    expect((await account.admin.get(path)).status).toBe(404);
    expect((await account.admin.delete(path)).status).toBe(404);
    expect((await account.admin.post('/payment-processors/list')).body.total_objects).toBe(0);
    const { rows } = await database.pool.query('select type from events where account_id = $1 and kind = $2 order by sequence', [account.id, 'processor']);
    expect(rows.map((row) => row.type)).toEqual(['payment_processor.created', 'payment_processor.updated', 'payment_processor.deleted']);
  });

  it('keep credentials sealed: never returned, never in an event, not readable in the database', async () => {
    const secret = 'sk_test_very_secret_value';
    const made = await create({ credentials: { api_key: secret } });
    expect(made.body.has_credentials).toBe(true);
    const { rows } = await database.pool.query(
      'select p.credentials_sealed, (select string_agg(e.head || e.data, $2) from events e where e.object_id = p.id) as told from payment_processors p where p.account_id = $1 and p.credentials_sealed is not null',
      [account.id, ' '],
    );
    expect(rows).toHaveLength(1);
    for (const text of [made.text, rows[0].credentials_sealed, rows[0].told]) expect(text).not.toContain(secret);
    const cleared = await account.admin.put(`/payment-processors/${made.body.id}`, { credentials: null });
    expect(cleared.body.has_credentials).toBe(false);
  });

  it.each<[string, object, (string | number)[]]>([
    ['no name', { name: undefined }, ['body', 'name']],
    ['an unknown kind', { kind: 'acme' }, ['body', 'kind']],
    ['a Stripe connection without a key', { kind: 'stripe' }, ['body', 'credentials', 'secret_key']],
    ['a live key in staging', { kind: 'stripe', credentials: { secret_key: 'sk_live_51abc' } }, ['body', 'credentials', 'secret_key']],
    ['a Stripe host that is not this machine', { kind: 'stripe', credentials: { secret_key: 'sk_test_51abc' }, settings: { api_base: 'https://stripe.example.com' } }, ['body', 'settings', 'api_base']],
    ['an unknown field', { colour: 'red' }, ['body', 'colour']],
    ['an unknown setting', { settings: { colour: 'red' } }, ['body', 'settings', 'colour']],
    ['an unknown outcome', { settings: { outcome: 'maybe' } }, ['body', 'settings', 'outcome']],
    ['too long a deadline', { settings: { total_timeout_ms: 7_001 } }, ['body', 'settings', 'total_timeout_ms']],
    ['credentials that are no texts', { credentials: { api_key: 5 } }, ['body', 'credentials', 'api_key']],
  ])('refuse %s with 422 at its place', async (_what, body, loc) => {
    const refused = await create(body);
    expect(refused.status).toBe(422);
    expect(refused.body.errors[0].loc).toEqual(loc);
  });

  it('are written by ADMIN only, read by everybody with a token of this account', async () => {
    const { id } = (await create()).body;
    const path = `/payment-processors/${id}`;
    const body = { name: 'B', kind: 'simulator' };
    for (const client of [account.operator, account.readOnly]) {
      expect((await client.post('/payment-processors/', body)).status).toBe(403);
      expect((await client.put(path, { name: 'C' })).status).toBe(403);
      expect((await client.delete(path)).status).toBe(403);
      expect((await client.get(path)).status).toBe(200);
    }
    expect((await account.admin.as(null).get(path)).status).toBe(401);
    const stranger = await freshAccount();
    expect((await stranger.admin.get(path)).status).toBe(404);
    expect((await stranger.admin.put(path, { name: 'C' })).status).toBe(404);
    expect((await stranger.admin.delete(path)).status).toBe(404);
    expect((await account.admin.get('/payment-processors/nonsense')).status).toBe(404);
  });

  it('make one connection for one idempotency key', async () => {
    const body = { name: 'Once', kind: 'simulator' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => account.admin.post('/payment-processors/', body, { key: 'once' })));
    const again = await account.admin.post('/payment-processors/', body, { key: 'once' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    for (const answer of answers.filter(({ status }) => status === 201)) expect(answer.text).toBe(again.text);
    const { rows } = await database.pool.query('select count(*)::int as n from payment_processors where account_id = $1 and name = $2', [account.id, 'Once']);
    expect(rows[0].n).toBe(1);
  });

  it('of kind simulator do not exist in production', async () => {
    const production = await freshAccount('production');
    const refused = await production.admin.post('/payment-processors/', { name: 'A', kind: 'simulator' });
    expect(refused.status).toBe(422);
    expect(refused.body.errors[0]).toMatchObject({ loc: ['body', 'kind'], type: 'unsupported_kind' });
  });
});
