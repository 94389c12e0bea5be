import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { untilListed } from '../support/events.js';

let account: TestAccount;
let productId: string;
beforeAll(async () => {
  account = await freshAccount();
  productId = (await account.operator.post('/products/', { name: 'Coffee', description: 'Beans' })).body.id;
});

const monthly = () => ({ product_id: productId, price_type: 'recurring', pricing_model: 'standard', is_active: true, currency: 'eur', unit_amount_atom: 900, billing_interval: 'month' });
const once = () => ({ product_id: productId, price_type: 'one_time', pricing_model: 'standard', is_active: true, currency: 'eur', unit_amount_atom: 500 });

async function eventTypes(objectId: string): Promise<string[]> {
  const { body } = await account.admin.post('/events/search', { object_id: objectId });
  return body.data.map((event: { type: string }) => event.type);
}

async function freshProduct(): Promise<string> {
  return (await account.operator.post('/products/', { name: 'Fresh', description: '' })).body.id;
}

async function freshPrice(more: object = {}): Promise<string> {
  const { status, body, text } = await account.operator.post('/prices/', { ...once(), ...more });
  if (status !== 201) throw new Error(text);
  return body.id;
}

async function sell(priceId: string): Promise<void> {
  const link = await account.operator.post('/payment-link/', { mode: 'payment', success_url: null, line_items: [{ price_id: priceId, quantity: 1 }] });
  expect(link.status).toBe(201);
}

interface Told {
  type: string;
  data: { is_default: boolean };
  data_previous: object | null;
}

/** What the events of a price told of its being the default, oldest first: type, now, before. */
async function toldDefaults(priceId: string): Promise<unknown[]> {
  await untilListed(account.admin);
  const { body } = await account.admin.get(`/events?object_id=${priceId}`);
  const told = (body.data as (Told & { sequence: number })[]).sort((a, b) => a.sequence - b.sequence);
  return told.map(({ type, data, data_previous }) => [type, data.is_default, (data_previous as { is_default?: boolean } | null)?.is_default]);
}

describe('products', () => {
  it('are created, read with their prices, changed and deleted', async () => {
    const made = await account.operator.post('/products/', { name: 'Tea', description: 'Leaves', features: ['green'], account_sku: 'T1', unit_label: 'bag', custom_fields: { a: 1 } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ object: 'product', name: 'Tea', features: ['green'], is_active: true, default_price: null, prices: [], is_deleted: false });
    const price = (await account.operator.post('/prices/', { ...once(), product_id: made.body.id, is_default: true })).body;
    expect(price.is_default).toBe(true);
    expect((await account.readOnly.get(`/products/${made.body.id}`)).body).toMatchObject({ default_price: price.id, prices: [{ id: price.id, product_name: 'Tea' }] });
    expect((await account.operator.put(`/products/${made.body.id}`, { name: 'Chai', unit_label: null })).body).toMatchObject({ name: 'Chai', unit_label: null, account_sku: 'T1' });
    const gone = await account.operator.delete(`/products/${made.body.id}`);
    expect(gone.body).toEqual({ product_id: made.body.id, message: expect.any(String) });
    expect((await account.readOnly.get(`/products/${made.body.id}`)).status).toBe(404);
    expect((await account.readOnly.get(`/prices/${price.id}`)).status).toBe(404);
    expect(await eventTypes(made.body.id)).toEqual(expect.arrayContaining(['product.created', 'product.updated', 'product.deleted']));
    expect(await eventTypes(price.id)).toEqual(['price.created', 'price.deleted']);
  });

  it.each([['without', undefined], ['with', `product-${Date.now()}`]])('are archived %s a key, with one event, when another price than the default is used', async (_how, key) => {
    const id = await freshProduct();
    const first = await freshPrice({ product_id: id, is_default: true });
    const used = await freshPrice({ product_id: id });
    await sell(used);
    const before = await eventTypes(id);
    const gone = await account.operator.delete(`/products/${id}`, undefined, { key });
    expect([gone.status, gone.body.message]).toEqual([200, expect.stringContaining('archived')]);
    const shown = (await account.readOnly.get(`/products/${id}`)).body;
    expect(shown).toMatchObject({ is_active: false, default_price: null, prices: [{ id: used, is_active: false }] });
    expect((await account.readOnly.get(`/prices/${first}`)).status).toBe(404);
    expect((await eventTypes(id)).length - before.length).toBe(1);
  });

  it('keep a used default when they are archived', async () => {
    const id = await freshProduct();
    const used = await freshPrice({ product_id: id, is_default: true });
    await sell(used);
    expect((await account.operator.delete(`/products/${id}`)).status).toBe(200);
    expect((await account.readOnly.get(`/products/${id}`)).body).toMatchObject({ is_active: false, default_price: used });
  });

  it('tell of each price that becomes or ceases to be the default', async () => {
    const id = await freshProduct();
    const first = await freshPrice({ product_id: id, is_default: true });
    expect(await toldDefaults(first)).toEqual([['price.created', true, undefined]]);
    const second = await freshPrice({ product_id: id, is_default: true });
    expect(await toldDefaults(first)).toEqual([['price.created', true, undefined], ['price.updated', false, true]]);
    expect(await toldDefaults(second)).toEqual([['price.created', true, undefined]]);
    const key = `default-${Date.now()}`;
    for (const _time of [1, 2]) expect((await account.operator.put(`/products/${id}`, { default_price_id: first }, { key })).status).toBe(200);
    expect((await toldDefaults(first)).at(-1)).toEqual(['price.updated', true, false]);
    expect(await toldDefaults(second)).toEqual([['price.created', true, undefined], ['price.updated', false, true]]);
  });

  it('and their prices keep what cannot be empty where an update sends null for it, also while they are archived', async () => {
    const id = await freshProduct();
    const price = await freshPrice({ product_id: id });
    const before = (await account.operator.put(`/products/${id}`, { is_active: false })).body;
    await account.operator.put(`/prices/${price}`, { is_active: false });
    const kept = await account.operator.put(`/products/${id}`, { name: null, is_active: null, unit_label: 'box' });
    expect([kept.status, kept.body]).toMatchObject([200, { name: before.name, is_active: false, unit_label: 'box' }]);
    const same = await account.operator.put(`/prices/${price}`, { is_active: null, name: 'Kept' });
    expect([same.status, same.body]).toMatchObject([200, { is_active: false, name: 'Kept' }]);
  });

  it('take only a price of their own as default', async () => {
    const other = (await account.operator.post('/products/', { name: 'Other', description: '' })).body.id;
    const price = (await account.operator.post('/prices/', once())).body.id;
    const answer = await account.operator.put(`/products/${other}`, { default_price_id: price });
    expect([answer.status, answer.body.errors?.[0].loc]).toEqual([422, ['body', 'default_price_id']]);
    expect((await account.operator.put(`/products/${productId}`, { default_price_id: price })).body.default_price).toBe(price);
  });

  it('are listed by filters', async () => {
    const { body } = await account.readOnly.post('/products/list', { name_contains: 'offe', is_active: true });
    expect(body.data.map((row: { id: string }) => row.id)).toEqual([productId]);
    expect((await account.readOnly.post('/products/list', { name_contains: '%' })).body.data).toEqual([]);
    expect((await account.readOnly.get('/products?is_active=true')).body.data.length).toBeGreaterThan(0);
  });
});

describe('prices', () => {
  it.each([['day', 3], ['week', 2], ['month', 1], ['year', 10]])('recur every %s × %i', async (interval, count) => {
    const made = await account.operator.post('/prices/', { ...monthly(), billing_interval: interval, billing_interval_count: count, trial_period_days: 7 });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      price_type: 'recurring', billing_interval: interval, billing_interval_count: count, billing_scheme: 'per_unit', is_licensed: true,
      recurring_details: { trial_period_days: 7, usage_type: 'licensed' }, eligible_for_updates: true, unit_amount_atom: 900, currency: 'eur',
    });
    expect((await account.readOnly.get(`/prices/${made.body.id}`)).body).toEqual(made.body);
  });

  it('are paid once', async () => {
    const made = await account.operator.post('/prices/', once());
    expect(made.body).toMatchObject({ price_type: 'one_time', billing_interval_count: null, transform_quantity_divide_by: 1, price_tiers: [] });
  });

  it.each([
    [{ pricing_model: 'graduated' }, 'pricing_model'],
    [{ usage_type: 'metered' }, 'usage_type'],
    [{ price_tiers: [{ units_from: 0, unit_amount_atom: 1 }] }, 'price_tiers'],
    [{ transform_quantity_divide_by: 10 }, 'transform_quantity_divide_by'],
    [{ unit_amount_atom: undefined }, 'unit_amount_atom'],
    [{ unit_amount_atom: -1 }, 'unit_amount_atom'],
    [{ unit_amount_atom: 1.5 }, 'unit_amount_atom'],
    [{ billing_interval: undefined }, 'billing_interval'],
    [{ billing_interval: 'fortnight' }, 'billing_interval'],
    [{ billing_interval_count: 121 }, 'billing_interval_count'],
    [{ price_type: 'one_time' }, 'billing_interval'],
    [{ currency: 'EUR' }, 'currency'],
    [{ product_id: 'product_stg_nothing' }, 'product_id'],
    [{ product_id: 'product_stg_01h455vb4pex5vsknk084sn02q' }, 'product_id'],
    [{ listed_exclusively_for_customers: ['x'] }, 'listed_exclusively_for_customers'],
  ])('refuse %j', async (wrong, field) => {
    const answer = await account.operator.post('/prices/', { ...monthly(), ...wrong });
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
    expect(answer.body.errors.map((error: { loc: string[] }) => error.loc[1])).toContain(field);
  });

  it('name only customers, prices and products of the account', async () => {
    const other = await freshAccount();
    const theirs = (await other.operator.post('/customers/', { email: 'a@example.com' })).body.id;
    const theirProduct = (await other.operator.post('/products/', { name: 'Theirs', description: '' })).body.id;
    const mine = (await account.operator.post('/customers/', { email: 'b@example.com' })).body.id;
    const [own, main, gone] = [await freshProduct(), await freshPrice(), await freshPrice()];
    await account.operator.delete(`/prices/${gone}`);
    const known = { listed_exclusively_for_customers: [mine], can_only_be_purchased_with: [main, own] };
    const id = await freshPrice(known);
    const wrongs: [string, string[]][] = [
      ['listed_exclusively_for_customers', [mine, theirs]],
      ['listed_exclusively_for_customers', [mine, 'cus_stg_01h455vb4pex5vsknk084sn02q']],
      ['can_only_be_purchased_with', [main, gone]],
      ['can_only_be_purchased_with', [own, theirProduct]],
    ];
    for (const [field, ids] of wrongs) {
      const answers = [await account.operator.post('/prices/', { ...once(), [field]: ids }), await account.operator.put(`/prices/${id}`, { [field]: ids })];
      for (const { status, body } of answers) expect([status, body.errors?.[0].loc]).toEqual([422, ['body', field, '1']]);
    }
    await account.operator.delete(`/customers/${mine}`);
    expect((await account.operator.put(`/prices/${id}`, { ...known, name: 'Kept' })).body).toMatchObject({ ...known, name: 'Kept' });
  });

  it('change while nobody used them, and are archived instead of deleted afterwards', async () => {
    const { id } = (await account.operator.post('/prices/', monthly())).body;
    expect((await account.operator.put(`/prices/${id}`, { unit_amount_atom: 1000, billing_interval: 'year' })).body).toMatchObject({ unit_amount_atom: 1000, billing_interval: 'year' });
    const used = (await account.operator.post('/prices/', once())).body;
    const link = await account.operator.post('/payment-link/', { mode: 'payment', success_url: 'https://example.com', line_items: [{ price_id: used.id, quantity: 1 }] });
    expect(link.status).toBe(201);
    const refused = await account.operator.put(`/prices/${used.id}`, { unit_amount_atom: 1 });
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect((await account.operator.put(`/prices/${used.id}`, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', eligible_for_updates: false });
    expect((await account.operator.delete(`/prices/${used.id}`)).status).toBe(200);
    expect((await account.readOnly.get(`/prices/${used.id}`)).body).toMatchObject({ is_active: false, is_deleted: false });
    expect((await account.operator.delete(`/prices/${id}`)).body.price_id).toBe(id);
    expect((await account.readOnly.get(`/prices/${id}`)).status).toBe(404);
  });

  it('are found by amount and by what they go with', async () => {
    const main = (await account.operator.post('/prices/', { ...once(), unit_amount_atom: 31337 })).body.id;
    const extra = (await account.operator.post('/prices/', { ...once(), can_only_be_purchased_with: [main] })).body.id;
    const found = await account.readOnly.get(`/prices/find-by-amount/31337?product_id=${productId}&page_size=5`);
    expect([found.status, found.body.total_objects, found.body.data[0].id]).toEqual([200, 1, main]);
    expect((await account.readOnly.get(`/prices/${main}/add-ons`)).body.map((row: { id: string }) => row.id)).toEqual([extra]);
    expect((await account.readOnly.get(`/prices/${main}`)).body.optional_add_ons).toEqual([extra]);
    expect((await account.readOnly.get('/prices/find-by-amount/many')).status).toBe(422);
  });

  it('show their add-ons wherever they are shown', async () => {
    const product_id = await freshProduct();
    const main = await freshPrice({ product_id, unit_amount_atom: 4242 });
    const ofPrice = await freshPrice({ can_only_be_purchased_with: [main] });
    const ofProduct = await freshPrice({ can_only_be_purchased_with: [main, product_id] });
    await freshPrice({ can_only_be_purchased_with: [main], is_active: false });
    const late = await account.operator.post('/prices/', { ...once(), product_id });
    expect(late.body.optional_add_ons).toEqual([ofProduct]);
    const wanted = { [main]: [ofPrice, ofProduct], [late.body.id]: [ofProduct] };
    const shown = ({ body }: Answer) => Object.fromEntries((body.data ?? body.prices).map((price: { id: string; optional_add_ons: string[] }) => [price.id, price.optional_add_ons]));
    expect(shown(await account.readOnly.post('/prices/list', { product_id }))).toEqual(wanted);
    expect(shown(await account.readOnly.get(`/prices?product_id=${product_id}`))).toEqual(wanted);
    expect(shown(await account.readOnly.get(`/prices/find-by-amount/4242?product_id=${product_id}`))).toEqual({ [main]: wanted[main] });
    expect(shown(await account.readOnly.get(`/products/${product_id}`))).toEqual(wanted);
    const listed = (await account.readOnly.post('/products/list', { name_contains: 'Fresh', page_size: 100 })).body.data;
    expect(shown({ body: listed.find((product: { id: string }) => product.id === product_id) } as Answer)).toEqual(wanted);
    expect((await account.operator.put(`/prices/${main}`, { name: 'Main' })).body.optional_add_ons).toEqual(wanted[main]);
    expect((await account.readOnly.get(`/prices/${ofPrice}`)).body.optional_add_ons).toEqual([]);
  });

  it('are listed by filters', async () => {
    const own = await freshAccount();
    const product = (await own.operator.post('/products/', { name: 'P', description: '' })).body.id;
    const dear = (await own.operator.post('/prices/', { ...once(), product_id: product, unit_amount_atom: 9 })).body.id;
    const cheap = (await own.operator.post('/prices/', { ...monthly(), product_id: product, unit_amount_atom: 1 })).body.id;
    const ids = async (body: object) => (await own.readOnly.post('/prices/list', body)).body.data.map((row: { id: string }) => row.id);
    expect(await ids({ sort_key: 'unit_amount_atom' })).toEqual([cheap, dear]);
    expect(await ids({ price_type: 'one_time', product_id: product })).toEqual([dear]);
    expect(await ids({ currency: 'usd' })).toEqual([]);
    expect((await own.readOnly.get(`/prices?product_id=${product}`)).body.data.map((row: { id: string }) => row.id)).toEqual([cheap, dear]);
  });
});

describe('product families', () => {
  it('group products', async () => {
    const made = await account.operator.post('/product-family/', { name: 'Drinks', products: [productId] });
    expect([made.status, made.body]).toMatchObject([200, { object: 'product_family', products: [productId], hierarchy: '{}', description: null }]);
    expect((await account.operator.put(`/product-family/${made.body.id}`, { name: 'Hot', products: null })).body).toMatchObject({ name: 'Hot', products: [] });
    expect((await account.operator.post('/product-family/', { name: 'x', products: ['nonsense'] })).body.errors[0].loc).toEqual(['body', 'products', '0']);
    expect((await account.readOnly.post('/product-family/list')).body.total_objects).toBe(1);
    expect((await account.operator.delete(`/product-family/${made.body.id}`)).status).toBe(204);
    expect((await account.readOnly.get(`/product-family/${made.body.id}`)).status).toBe(404);
    expect((await account.readOnly.post('/product-family/list', { is_deleted: true })).body.total_objects).toBe(1);
  });
});

describe('second account', () => {
  it('sees nothing', async () => {
    const other = await freshAccount();
    const price = (await account.operator.post('/prices/', once())).body.id;
    for (const path of [`/products/${productId}`, `/prices/${price}`, `/prices/${price}/add-ons`]) expect((await other.admin.get(path)).status).toBe(404);
    for (const path of [`/products/${productId}`, `/prices/${price}`]) {
      expect((await other.admin.put(path, { name: 'x' })).status).toBe(404);
      expect((await other.admin.delete(path)).status).toBe(404);
    }
    const foreign = await other.admin.post('/prices/', once());
    expect([foreign.status, foreign.body.errors[0].loc]).toEqual([422, ['body', 'product_id']]);
  });
});
