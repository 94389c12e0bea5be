import { freshAccount, type Answer } from '../support/account.js';
import { made } from '../payments/shop.js';
import { shared } from '../support/stack.js';
import { eventsOf, newLink, openLinkShop, type LinkShop } from './visitor.js';

let shop: LinkShop;
beforeAll(async () => {
  shop = await openLinkShop();
});

const body = (more: object = {}) => ({ mode: 'payment', success_url: 'https://shop.example/thanks', line_items: [{ price_id: shop.big, quantity: 1 }], ...more });

async function oneTimePrice(more: object): Promise<string> {
  const product_id = await made(shop.admin.post('/products/', { name: 'Other', description: '' }));
  return made(shop.admin.post('/prices/', { product_id, price_type: 'one_time', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 100, is_active: true, ...more }));
}

function namesField(answer: Answer, ...loc: (string | number)[]): void {
  expect(answer.status).toBe(422);
  expect(answer.body.errors.map((error: { loc: unknown[] }) => error.loc.slice(1).map(String).join('.'))).toContain(loc.join('.'));
}

describe('POST /payment-link/', () => {
  it('answers 201 with a page of its own, and leaves an event without the token', async () => {
    const { status, body: link } = await shop.operator.post('/payment-link/', body({ custom_fields: { order: 7 }, metadata: { a: 'b' } }));
    expect(status).toBe(201);
    expect(link).toMatchObject({
      id: expect.stringMatching(/^plink_stg_/), object: 'payment_link', account_id: shop.publicId, account_name: 'Test', active: true, inactive_reason: null,
      mode: 'payment', currency: 'eur', customer_id: null, customer_email: null, success_url: 'https://shop.example/thanks', coupon_id: null,
      custom_fields: { order: 7 }, metadata: { a: 'b' }, trial_end: null, trial_from_price: null, trial_period_days: null, is_deleted: false,
      line_items: [{ id: expect.stringMatching(/^plli_stg_/), price_id: shop.big, quantity: 1, payment_link_id: link.id }],
      checkout_preferences: { processor_preferences: { ids_whitelist: [] } },
    });
    expect(Buffer.from(link.secure_token, 'base64url').length * 8).toBeGreaterThanOrEqual(190);
    expect(link.url).toBe(`${shared.stagingUrl}/pay/${link.secure_token}`);
    expect((await fetch(link.url)).status).toBe(200);
    expect(await eventsOf(shop, link.id)).toEqual(['payment_link.created']);
    const events = await shop.admin.get(`/events?object_id=${link.id}`);
    expect(events.text).not.toContain(link.secure_token);
    expect(events.body.data[0]).toMatchObject({ data: { id: link.id, secure_token: '', url: '' } });
  });

  it('names the customer who pays', async () => {
    const link = await newLink(shop, { customer_id: shop.customer });
    expect(link).toMatchObject({ customer_id: shop.customer, customer_email: 'buyer@example.com' });
  });

  it('makes its prices used: they are archived, not deleted', async () => {
    await newLink(shop);
    const changed = await shop.admin.put(`/prices/${shop.big}`, { unit_amount_atom: 1 });
    expect(changed.status).toBe(409);
  });

  it('is made once per idempotency key, with the same token', async () => {
    const key = `link-${Date.now()}`;
    const answers = await Promise.all([1, 2, 3].map(() => shop.admin.post('/payment-link/', body(), { key })));
    const first = answers.find((answer) => answer.status === 201)!;
    const again = await shop.admin.post('/payment-link/', body(), { key });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it.each(['setup', 'subscription'])('refuses mode %s by name', async (mode) => {
    namesField(await shop.admin.post('/payment-link/', body({ mode })), 'mode');
  });

  it.each([
    ['line_items', { line_items: [] }],
    ['line_items', { line_items: undefined }],
    ['line_items.0.quantity', { line_items: [{ price_id: 'price_x', quantity: 0 }] }],
    ['line_items.0.price_id', { line_items: [{ price_id: 'price_x', quantity: 1 }] }],
    ['success_url', { success_url: 'javascript:alert(1)' }],
    ['success_url', { success_url: 'https://user:secret@shop.example/' }],
    ['success_url', { success_url: undefined }],
    ['customer_id', { customer_id: 'cus_stg_01jzzzzzzzzzzzzzzzzzzzzzzz' }],
    ['payment_route_id', { payment_route_id: 'nothing' }],
    ['coupon_id', { coupon_id: 'coupon_stg_1' }],
    ['trial_period_days', { trial_period_days: 3 }],
    ['checkout_preferences.processor_preferences.ids_whitelist', { checkout_preferences: { processor_preferences: { ids_whitelist: ['x'] } } }],
    ['surprise', { surprise: 1 }],
  ])('refuses a wrong %s by name', async (field, change) => {
    namesField(await shop.admin.post('/payment-link/', body(change)), ...field.split('.'));
  });

  it('takes one-time prices of one currency that are for sale', async () => {
    const price = oneTimePrice;
    const items = async (...prices: string[]) => shop.admin.post('/payment-link/', body({ line_items: prices.map((price_id) => ({ price_id, quantity: 1 })) }));
    namesField(await items(await price({ price_type: 'recurring', billing_interval: 'month' })), 'line_items', 0, 'price_id');
    namesField(await items(shop.big, await price({ currency: 'usd' })), 'line_items', 1, 'price_id');
    namesField(await items(await price({ is_active: false })), 'line_items', 0, 'price_id');
    namesField(await items(await price({ unit_amount_atom: 0 })), 'line_items');
    const stranger = await openLinkShop();
    namesField(await items(stranger.big), 'line_items', 0, 'price_id');
  });

  it('sells a price that is listed for one customer to that customer only', async () => {
    const price_id = await oneTimePrice({ listed_exclusively_for_customers: [shop.customer] });
    const other = await made(shop.admin.post('/customers/', { email: 'other@example.com' }));
    const link = (customer_id: string | null) => shop.admin.post('/payment-link/', body({ customer_id, line_items: [{ price_id, quantity: 1 }] }));
    expect((await link(shop.customer)).status).toBe(201);
    namesField(await link(other), 'line_items', 0, 'price_id');
    namesField(await link(null), 'line_items', 0, 'price_id');
  });

  it('sells an add-on only together with what it goes with', async () => {
    const product = await made(shop.admin.post('/products/', { name: 'Mains', description: '' }));
    const main = await oneTimePrice({ product_id: product });
    const withPrice = await oneTimePrice({ can_only_be_purchased_with: [main] });
    const withProduct = await oneTimePrice({ product_id: product, can_only_be_purchased_with: [product] });
    const items = (...ids: string[]) => shop.admin.post('/payment-link/', body({ line_items: ids.map((price_id) => ({ price_id, quantity: 1 })) }));
    namesField(await items(withPrice), 'line_items', 0, 'price_id');
    namesField(await items(shop.big, withPrice), 'line_items', 1, 'price_id');
    namesField(await items(withProduct, withProduct), 'line_items', 0, 'price_id');
    expect((await items(withPrice, main)).status).toBe(201);
    expect((await items(main, withProduct, withPrice)).status).toBe(201);
  });
});

describe('reading and changing', () => {
  it('answers 201 to GET, as published, and the same object', async () => {
    const link = await newLink(shop);
    const { status, body: read } = await shop.readOnly.get(`/payment-link/${link.id}`);
    expect(status).toBe(201);
    expect(read).toEqual(link);
  });

  it('lists by page and by cursor', async () => {
    const fresh = await openLinkShop();
    const links = [await newLink(fresh), await newLink(fresh), await newLink(fresh)];
    const page = await fresh.readOnly.post('/payment-link/list', { page_size: 2, sort_descending: true });
    expect(page.body).toMatchObject({ page_number: 1, page_size: 2, total_objects: 3 });
    expect(page.body.data).toEqual([links[2], links[1]]);
    const first = await fresh.readOnly.get('/payment-link?limit=2');
    const rest = await fresh.readOnly.get(`/payment-link?limit=2&cursor=${first.body.next_cursor}`);
    expect([...first.body.data, ...rest.body.data]).toEqual([links[2], links[1], links[0]]);
    expect(rest.body.has_more).toBe(false);
  });

  it('switches off and on with an event each, and tells nothing where nothing changes', async () => {
    const link = await newLink(shop);
    const off = await shop.operator.put(`/payment-link/${link.id}`, { active: false });
    expect(off.body).toMatchObject({ active: false, inactive_reason: 'request' });
    expect((await fetch(link.url)).status).toBe(410);
    await shop.operator.put(`/payment-link/${link.id}`, { active: false });
    const on = await shop.operator.put(`/payment-link/${link.id}`, { active: true, success_url: 'https://shop.example/other' });
    expect(on.body).toMatchObject({ active: true, inactive_reason: null, success_url: 'https://shop.example/other', secure_token: link.secure_token });
    expect((await fetch(link.url)).status).toBe(200);
    expect(await eventsOf(shop, link.id)).toEqual(['payment_link.created', 'payment_link.updated', 'payment_link.updated']);
  });

  it('shows the public side to whoever has the token', async () => {
    const link = await newLink(shop, { metadata: { internal: 'x' } });
    const { status, body: shown, text } = await shop.admin.as(null).get(`/payment-link/public/${link.secure_token}?ref_id=1`);
    expect(status).toBe(200);
    expect(shown).toMatchObject({ account_name: 'Test', active: true, currency: 'eur', amount_atom: 2_800, asks_customer: true });
    expect(shown.line_items).toEqual([
      { name: 'Field notes', description: null, quantity: 2, unit_amount_atom: 1_250, amount_atom: 2_500 },
      { name: 'Pencil', description: null, quantity: 1, unit_amount_atom: 300, amount_atom: 300 },
    ]);
    expect(text).not.toContain('internal');
    for (const wrong of ['x', 'A'.repeat(43), link.id]) expect((await shop.admin.as(null).get(`/payment-link/public/${wrong}`)).status).toBe(404);
  });

  it('is forbidden, unknown or unauthenticated as everywhere', async () => {
    const link = await newLink(shop);
    expect((await shop.readOnly.post('/payment-link/', body())).status).toBe(403);
    expect((await shop.readOnly.put(`/payment-link/${link.id}`, {})).status).toBe(403);
    const calls: [string, string, object?][] = [
      ['POST', '/payment-link/', body()], ['GET', `/payment-link/${link.id}`], ['PUT', `/payment-link/${link.id}`, {}], ['POST', '/payment-link/list', {}], ['GET', '/payment-link'],
    ];
    for (const [method, path, sent] of calls) expect((await shop.admin.as(null).send(method, path, sent)).status).toBe(401);
    const stranger = await freshAccount();
    for (const id of [link.id, 'plink_stg_x', link.id.replace('stg', 'prod'), shop.customer]) {
      expect((await stranger.admin.get(`/payment-link/${id}`)).status).toBe(404);
      expect((await stranger.admin.put(`/payment-link/${id}`, { active: false })).status).toBe(404);
    }
    expect((await stranger.admin.post('/payment-link/list', {})).body.total_objects).toBe(0);
  });
});

describe('the page', () => {
  it('answers 404 to an unknown token, in HTML', async () => {
    for (const token of ['x', 'A'.repeat(43), '%00', '..%2f']) {
      const answer = await fetch(`${shared.stagingUrl}/pay/${token}`);
      expect(answer.status).toBe(404);
    }
    expect((await fetch(`${shared.stagingUrl}/pay/${'A'.repeat(43)}`)).headers.get('content-type')).toMatch(/^text\/html/);
  });

  it('takes forms there and nowhere else', async () => {
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${shop.admin.token}` }, body: 'email=a' };
    expect((await fetch(`${shared.stagingUrl}/customers/`, form)).status).toBe(415);
    const link = await newLink(shop);
    expect((await fetch(link.url, { ...form, body: `x=${'y'.repeat(20_000)}` })).status).toBe(413);
    expect((await fetch(link.url, form)).status).toBe(422);
  });

  it('lets in only our own files, and is kept and framed by nobody', async () => {
    const link = await newLink(shop, { success_url: 'https://shop.example/thanks' });
    const page = await fetch(link.url);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self' https:\/\/shop\.example/);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/);
    const markup = await page.text();
    for (const [, file] of markup.matchAll(/(?:href|src)="(\/pay\/assets\/[^"]+)"/g)) {
      const asset = await fetch(shared.stagingUrl + file!);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('cache-control')).toContain('immutable');
    }
  });

  it('asks for no card in production, where no test card is taken', async () => {
    const { admin } = await freshAccount('production');
    const product = await made(admin.post('/products/', { name: 'Real', description: '' }));
    const price = await made(admin.post('/prices/', { product_id: product, price_type: 'one_time', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 100, is_active: true }));
    const { body: link } = await admin.post('/payment-link/', { mode: 'payment', success_url: null, line_items: [{ price_id: price, quantity: 1 }] });
    const page = await fetch(link.url);
    expect(page.status).toBe(503);
    expect(await page.text()).not.toContain('name="number"');
    namesField(await admin.post('/payment-link/', { mode: 'payment', success_url: 'http://shop.example', line_items: [{ price_id: price, quantity: 1 }] }), 'success_url');
  });
});
