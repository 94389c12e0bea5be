import { freshAccount } from '../support/account.js';
import { untilShown } from '../support/events.js';
import { eventually } from '../support/stack.js';
import { cardOf, made } from '../payments/shop.js';
import { anotherCustomer, charged, credit, creditOf, invoice, moneyOf, one, openTill, sent, told, type Till } from './till.js';

let till: Till;
const least = { minimum_amounts: { nok: 300 } };
beforeAll(async () => { till = await openTill({ settings: { a: least, b: least } }); }, 60_000);

const post = (path: string, body: object = {}, key?: string) => till.admin.post(path, body, key ? { key } : {});
const create = (body: object, key?: string) => post('/invoices/', { customer_id: till.customer, ...body }, key);
const later = '4000000000000341';

describe('an invoice made by hand', () => {
  it('is a draft, is finalised with the next number, is charged at once and paid', async () => {
    const draft = await invoice(till, { ...one(till.desk, 2), invoice_item_details: { [till.desk]: { description: 'For the office' } }, custom_fields: { order: 7 } });
    expect(draft).toMatchObject({
      status: 'draft', invoice_number: 0, billing_reason: 'manual', total_amount_atom: 2_500, due_amount_atom: 2_500, subscription_id: null, hosted_invoice_url: null,
      description: 'Manual creation of invoice', finalized_at: null,
      lines: [{ name: 'Desk', description: 'For the office', quantity: 2, amount_atom: 2_500, price_id: till.desk, price_type: 'one_time', proration: false, subscription_id: null }],
    });
    const { status, body } = await post(`/invoices/${draft.id}/finalize`);
    expect([status, body]).toMatchObject([200, { status: 'paid', paid_amount_atom: 2_500, remaining_amount_atom: 0, net_d: -1 }]);
    expect(body.invoice_number).toBeGreaterThan(0);
    expect(body.hosted_invoice_url).toMatch(/\/pay\/invoices\/[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/);
    expect(await told(till, draft.id)).toEqual(['invoice.created', 'invoice.finalized', 'invoice.updated', 'invoice.paid']);
    const { body: intent } = await till.admin.get(`/payment-intents/${body.latest_payment_intent_id}`);
    expect(intent).toMatchObject({ status: 'succeeded', amount_atom: 2_500, off_session: true, custom_fields: { order: 7 } });
    expect(await moneyOf(till, draft.id)).toHaveLength(1);
    await untilShown();
    const events = await till.admin.get(`/events?object_id=${draft.id}&limit=100`);
    expect(events.text).toContain('invoice.paid');
    expect(events.text).not.toContain('/pay/invoices/');
  });

  it('is previewed as it is then made', async () => {
    const customer = await anotherCustomer(till);
    await credit(till, customer, 400);
    const wishes = [
      { ...one(till.lamp) },
      { ...one(till.desk, 3), ...sent, net_d: 7, email_invoice_on_finalization: true },
      { ...one(till.lamp), ...sent },
    ];
    for (const wish of wishes) {
      const preview = await create({ ...wish, customer_id: customer, is_preview: true });
      const real = await create({ ...wish, customer_id: customer });
      expect([preview.status, real.status]).toEqual([200, 200]);
      expect(comparable(preview.body)).toEqual(comparable(real.body));
    }
    const mine = await create({ ...one(till.desk), ...charged, is_preview: true });
    const before = await till.admin.post('/invoices/list', { customer_id: till.customer });
    expect(mine.body).toMatchObject({ status: 'paid', paid_amount_atom: 1_250, invoice_number: 0 });
    expect(comparable((await create({ ...one(till.desk), ...charged })).body)).toEqual(comparable(mine.body));
    expect((await till.admin.post('/invoices/list', { customer_id: till.customer })).body.total_objects).toBe(before.body.total_objects + 1);
  });

  it('whose payment is declined is past due, stays payable, and is paid by another card', async () => {
    const bad = await cardOf(till, later);
    const declined = await invoice(till, { ...charged, payment_method_id: bad });
    expect(declined).toMatchObject({ status: 'past_due', default_payment_method_id: bad, latest_payment_attempt_failure_message: expect.any(String) });
    expect(await told(till, declined.id)).toEqual(expect.arrayContaining(['invoice.finalized', 'invoice.past_due']));
    const again = await post(`/invoices/${declined.id}/pay`, { comment: 'The customer called.' });
    expect([again.status, again.body.code]).toEqual([402, 'do_not_honor']);
    const paid = await post(`/invoices/${declined.id}/pay`, { payment_method_id: till.card });
    expect(paid.body).toMatchObject({ status: 'paid', latest_payment_attempt_failure_message: null, comments: [{ comment: 'The customer called.', user_email: null }] });
    expect(await moneyOf(till, declined.id)).toHaveLength(1);
  });

  it('is voided by a declined payment that says so, and not by one that does not', async () => {
    const bad = await cardOf(till, later);
    const open = await invoice(till, sent);
    expect((await post(`/invoices/${open.id}/pay`, { payment_method_id: bad })).status).toBe(402);
    expect((await till.admin.get(`/invoices/${open.id}`)).body.status).toBe('past_due');
    const refused = await post(`/invoices/${open.id}/pay`, { payment_method_id: bad, void_on_failure: true }, 'void on failure');
    expect([refused.status, refused.body.code]).toEqual([402, 'do_not_honor']);
    expect((await till.admin.get(`/invoices/${open.id}`)).body).toMatchObject({ status: 'void', remaining_amount_atom: 0 });
    expect((await post(`/invoices/${open.id}/pay`, { payment_method_id: bad, void_on_failure: true }, 'void on failure')).headers.get('idempotent-replayed')).toBe('true');
  });

  it('that is sent waits for its due date, is past due after it, and is paid out of band', async () => {
    const waiting = await invoice(till, { ...sent, net_d: 14 });
    expect(waiting).toMatchObject({ status: 'open', net_d: 14, latest_payment_intent_id: null, collection_method: 'send_invoice' });
    expect(Date.parse(waiting.due_date) - Date.parse(waiting.finalized_at)).toBe(14 * 86_400_000);
    const due = await invoice(till, { ...sent, net_d: 0 });
    await eventually(async () => (await till.admin.get(`/invoices/${due.id}`)).body.status === 'past_due');
    expect(await told(till, due.id)).toEqual(['invoice.created', 'invoice.finalized', 'invoice.past_due']);
    const paid = await post(`/invoices/${due.id}/pay`, { paid_out_of_band: true, comment: 'Wire of Tuesday' });
    expect(paid.body).toMatchObject({ status: 'paid', paid_out_of_band: true, comments: [{ comment: 'Wire of Tuesday' }] });
    expect((await till.admin.get(`/invoices/${waiting.id}`)).body.status).toBe('open');
  });

  it('needs a method where it is charged: nothing is stored and no number is taken', async () => {
    const customer = await anotherCustomer(till);
    const { status, body } = await create({ ...one(till.desk), ...charged, customer_id: customer }, 'no method');
    expect([status, body.code]).toEqual([422, 'payment_method_required']);
    expect((await create({ ...one(till.desk), ...charged, customer_id: customer, is_preview: true })).body.code).toBe('payment_method_required');
    expect((await till.admin.post('/invoices/list', { customer_id: customer })).body.total_objects).toBe(0);
    const before = (await invoice(till, sent)).invoice_number;
    const draft = await invoice(till, { customer_id: customer });
    expect((await post(`/invoices/${draft.id}/finalize`)).status).toBe(422);
    expect((await invoice(till, sent)).invoice_number).toBe(before + 1);
  });
});

describe('numbers', () => {
  it('have no gaps: twenty finalised at once, beside some that are refused', async () => {
    const own = await openTill();
    const poor = await anotherCustomer(own);
    const drafts = await Promise.all(Array.from({ length: 20 }, () => invoice(own, { collection_method: 'send_invoice' })));
    const refused = await Promise.all(Array.from({ length: 5 }, () => invoice(own, { customer_id: poor })));
    const answers = await Promise.all([...drafts, ...refused].map(({ id }) => own.admin.post(`/invoices/${id}/finalize`)));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), ...Array.from({ length: 5 }, () => 422)]);
    const numbers = answers.slice(0, 20).map(({ body }) => body.invoice_number as number).sort((x, y) => x - y);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    const one = answers[0]!.body;
    expect((await own.admin.post(`/invoices/${one.id}/finalize`)).body).toMatchObject({ status: 409, code: 'invalid_state_transition', detail: expect.stringContaining('open') });
  }, 180_000);
});

describe('credit', () => {
  it('is used once by two invoices that are finalised at the same time', async () => {
    const customer = await anotherCustomer(till);
    await credit(till, customer, 1_500);
    const drafts = await Promise.all([1, 2].map(() => invoice(till, { customer_id: customer, collection_method: 'send_invoice' })));
    const answers = await Promise.all(drafts.map(({ id }) => post(`/invoices/${id}/finalize`)));
    expect(answers.map(({ body }) => body.applied_balance_amount_atom).sort()).toEqual([1_250, 250]);
    expect(answers.map(({ body }) => body.status).sort()).toEqual(['open', 'paid']);
    expect(await creditOf(till, customer)).toBe(0);
    const open = answers.find(({ body }) => body.status === 'open')!.body;
    expect((await post(`/invoices/${open.id}/void`, { comment: 'Wrong customer' })).body).toMatchObject({ status: 'void', comments: [{ comment: 'Wrong customer' }] });
    expect(await creditOf(till, customer)).toBe(250);
  });

  it('comes from a negative total, never as money', async () => {
    const customer = await anotherCustomer(till);
    await post('/invoice-items/', { customer_id: customer, price_id: till.desk, amount_atom: -2_000, description: 'Returned' });
    const wish = { customer_id: customer, invoice_type: 'standard', ...one(till.desk), ...sent };
    const preview = (await create({ ...wish, is_preview: true })).body;
    const given = (await create(wish)).body;
    expect(given).toMatchObject({ status: 'paid', total_amount_atom: -750, due_amount_atom: 0, paid_amount_atom: 0, credited_amount_atom: 750, latest_payment_intent_id: null });
    expect(comparable(preview)).toEqual(comparable(given));
    expect(await creditOf(till, customer)).toBe(750);
    const used = await invoice(till, { customer_id: customer, ...one(till.lamp), ...charged });
    expect(used).toMatchObject({ status: 'paid', applied_balance_amount_atom: 300, due_amount_atom: 0, latest_payment_intent_id: null });
  });
});

describe('an amount that no processor takes', () => {
  it('is carried to the next invoice, as those of subscriptions are, whether it is charged or sent', async () => {
    const { body: desk } = await till.admin.get(`/prices/${till.desk}`);
    const sold = (unit_amount_atom: number) => made(post('/prices/', { product_id: desk.product_id, price_type: 'one_time', pricing_model: 'standard', currency: 'nok', unit_amount_atom, is_active: true }));
    const [little, enough] = [await sold(120), await sold(250)];
    const amounts = ({ lines }: { lines: { amount_atom: number }[] }) => lines.map(({ amount_atom: atoms }) => atoms).sort((x, y) => x - y);
    const wish = { ...one(little), ...charged };
    const preview = (await create({ ...wish, is_preview: true })).body;
    const small = (await create(wish)).body;
    expect(comparable(preview)).toEqual(comparable(small));
    expect(small).toMatchObject({ status: 'paid', total_amount_atom: 0, due_amount_atom: 0, paid_amount_atom: 0, latest_payment_intent_id: null });
    expect(amounts(small)).toEqual([-120, 120]);
    const sources = ({ lines }: { lines: { carried_from_invoice_id: string | null }[] }) => lines.map(({ carried_from_invoice_id: from }) => from).filter((from) => from !== null);
    const again = await create({ ...one(little), ...sent, invoice_type: 'standard' });
    expect([again.body.status, amounts(again.body)]).toEqual(['paid', [-240, 120, 120]]);
    expect([sources(small), sources(again.body)]).toEqual([[], [small.id]]);
    const next = (await create({ ...one(enough), ...charged, invoice_type: 'standard' })).body;
    expect([next.status, next.paid_amount_atom, amounts(next)]).toEqual(['paid', 490, [240, 250]]);
    expect(sources(next)).toEqual([again.body.id]);
    expect(await moneyOf(till, next.id)).toMatchObject([{ amount_captured: 490 }]);
    expect(await told(till, small.id)).toEqual(['invoice.created', 'invoice.finalized', 'invoice.paid']);
  });
});

describe('pending lines', () => {
  it('wait for the customer\'s next invoice and are taken once', async () => {
    const customer = await anotherCustomer(till);
    const added = await post('/invoice-items/', { customer_id: customer, price_id: till.lamp, quantity: 2, description: 'Spare' });
    expect([added.status, added.body]).toMatchObject([201, { invoice_id: null, amount_atom: 600, quantity: 2, name: 'Lamp', description: 'Spare' }]);
    const gone = (await post('/invoice-items/', { customer_id: customer, price_id: till.desk })).body.id;
    expect((await till.admin.delete(`/invoice-items/${gone}`)).body).toEqual({ invoice_item_id: gone, message: expect.any(String) });
    expect((await till.admin.get(`/invoice-items/${gone}`)).status).toBe(404);
    expect((await invoice(till, { customer_id: customer, collection_method: 'send_invoice' })).lines).toHaveLength(1);
    const taken = await Promise.all([1, 2].map(() => create({ customer_id: customer, collection_method: 'send_invoice' })));
    expect(taken.map(({ status }) => status).sort()).toEqual([200, 422]);
    const draft = taken.find(({ status }) => status === 200)!.body;
    expect(draft).toMatchObject({ total_amount_atom: 600, lines: [{ id: added.body.id, invoice_id: draft.id }] });
    expect(await told(till, added.body.id)).toEqual(['invoice_item.created', 'invoice_item.updated']);
  });

  it('leave a draft, whose total follows, but no finalised invoice', async () => {
    const draft = await invoice(till, { selected_product_price_quantity: [{ price_id: till.desk, quantity: 1 }, { price_id: till.lamp, quantity: 1 }] });
    expect((await till.admin.delete(`/invoice-items/${draft.lines[1].id}`)).status).toBe(200);
    expect((await till.admin.get(`/invoices/${draft.id}`)).body).toMatchObject({ total_amount_atom: 1_250, due_amount_atom: 1_250, lines: [{ id: draft.lines[0].id }] });
    expect(await told(till, draft.id)).toEqual(['invoice.created', 'invoice.updated']);
    await post(`/invoices/${draft.id}/finalize`);
    const refused = await till.admin.delete(`/invoice-items/${draft.lines[0].id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state_transition']);
  });
});

describe('changes', () => {
  it('of a draft are free; later only harmless ones; a comment always', async () => {
    const draft = await invoice(till);
    const changed = await till.admin.put(`/invoices/${draft.id}`, { description: 'New', custom_fields: { a: 1 }, email_invoice_on_finalization: true, payment_method_id: till.card });
    expect(changed.body).toMatchObject({ description: 'New', custom_fields: { a: 1 }, email_invoice_on_finalization: true, default_payment_method_id: till.card, status: 'draft' });
    expect((await till.admin.put(`/invoices/${draft.id}`, { description: 'New' })).status).toBe(200);
    expect(await told(till, draft.id)).toEqual(['invoice.created', 'invoice.updated']);
    await post(`/invoices/${draft.id}/finalize`);
    expect((await till.admin.put(`/invoices/${draft.id}`, { custom_fields: null, description: null })).body).toMatchObject({ custom_fields: null, description: null });
    for (const settled of [{ email_invoice_on_finalization: false }, { payment_method_id: null }]) {
      const { status, body } = await till.admin.put(`/invoices/${draft.id}`, settled);
      expect([status, body.code, body.detail]).toEqual([409, 'invalid_state_transition', expect.stringContaining('paid')]);
    }
    expect((await post(`/invoices/${draft.id}/comment`, { comment: 'Done' })).body.comments).toEqual([{ comment: 'Done', created_at: expect.any(String), user_email: null }]);
  });

  it('name the state and what it allows where they are refused', async () => {
    const draft = await invoice(till);
    const paid = await invoice(till, charged);
    const gone = await invoice(till, sent);
    await post(`/invoices/${gone.id}/void`);
    const refusals = [[draft, 'pay', 'be finalised'], [draft, 'mark_uncollectible', 'be finalised'], [paid, 'void', 'nothing'], [paid, 'pay', 'nothing'], [paid, 'finalize', 'nothing'], [gone, 'pay', 'nothing'], [gone, 'void', 'nothing']] as const;
    for (const [{ id }, move, allowed] of refusals) {
      const { status, body } = await post(`/invoices/${id}/${move}`, {});
      expect([move, status, body.code, body.detail]).toEqual([move, 409, 'invalid_state_transition', expect.stringMatching(new RegExp(`that is .* allowed: .*${allowed}`))]);
    }
    const lost = await invoice(till, sent);
    expect((await post(`/invoices/${lost.id}/mark_uncollectible`)).body.status).toBe('uncollectible');
    expect((await post(`/invoices/${lost.id}/pay`)).body.status).toBe('paid');
    expect((await post(`/invoices/${draft.id}/void`)).body.status).toBe('void');
  });
});

describe('the request', () => {
  it('is refused by the field that is wrong', async () => {
    const own = await freshAccount();
    const foreign = (await own.admin.post('/customers/', { email: 'a@example.com', first_name: 'A' })).body.id;
    const other = await anotherCustomer(till);
    const product = (await till.admin.get(`/prices/${till.desk}`)).body.product_id;
    const price = async (more: object) => (await post('/prices/', { product_id: product, price_type: 'one_time', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 5, is_active: true, ...more })).body.id;
    const wrong: [object, string][] = [
      [{ customer_id: foreign, ...one(till.desk) }, 'customer_id'],
      [{}, 'selected_product_price_quantity'],
      [{ customer_id: other, invoice_type: 'standard' }, 'selected_product_price_quantity'],
      [one(await price({ price_type: 'recurring', billing_interval: 'month' })), 'selected_product_price_quantity.0.price_id'],
      [one(await price({ is_active: false })), 'selected_product_price_quantity.0.price_id'],
      [{ selected_product_price_quantity: [{ price_id: till.desk, quantity: 1 }, { price_id: await price({ currency: 'usd' }), quantity: 1 }] }, 'selected_product_price_quantity.1.price_id'],
      [one(await price({ unit_amount_atom: 1_000_000_000_000 }), 1_000_000), 'selected_product_price_quantity.0.quantity'],
      [{ ...one(till.desk), customer_id: other, payment_method_id: till.card }, 'payment_method_id'],
      [{ ...one(till.desk), subscription_id: 'sub_stg_x' }, 'subscription_id'],
      [{ ...one(till.desk), net_d: 5 }, 'net_d'],
      [{ ...one(till.desk), coupon_id: 'coupon_x' }, 'coupon_id'],
      [{ ...one(till.desk), invoice_item_details: { [till.lamp]: { description: 'x' } } }, `invoice_item_details.${till.lamp}`],
      [{ ...one(till.desk), nonsense: 1 }, 'nonsense'],
    ];
    for (const [body, field] of wrong) {
      const answer = await create(body);
      expect([field, answer.status, answer.body.errors?.[0].loc.slice(1).join('.')]).toEqual([field, 422, field]);
    }
    const item = await post('/invoice-items/', { customer_id: till.customer, price_id: till.desk, amount_atom: 5 });
    expect([item.status, item.body.errors[0].loc]).toEqual([422, ['body', 'description']]);
    expect((await post(`/invoices/${(await invoice(till)).id}/pay`, { paid_out_of_band: true, void_on_failure: true })).status).toBe(422);
  });

  it('is for this account only, and writes for operators only', async () => {
    const { id, lines } = await invoice(till);
    const own = await freshAccount();
    const calls: [string, string, object?][] = [
      ['PUT', `/invoices/${id}`, { description: 'x' }], ['POST', `/invoices/${id}/finalize`], ['POST', `/invoices/${id}/comment`, { comment: 'x' }], ['DELETE', `/invoice-items/${lines[0].id}`],
    ];
    for (const [method, path, body] of calls) {
      expect([path, (await own.admin.send(method, path, body)).status]).toEqual([path, 404]);
      expect([path, (await till.readOnly.send(method, path, body)).status]).toEqual([path, 403]);
    }
    expect((await till.readOnly.post('/invoices/', { customer_id: till.customer, ...one(till.desk) })).status).toBe(403);
    expect((await till.operator.post('/invoices/', { customer_id: till.customer, ...one(till.desk) })).status).toBe(200);
  });

  it('sent again with its key makes one invoice and one payment, and answers the same', async () => {
    const wish = { ...one(till.desk), ...charged };
    const answers = await Promise.all([1, 2, 3].map(() => create(wish, 'one invoice')));
    const [made] = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const replay = await create(wish, 'one invoice');
    expect([replay.status, replay.headers.get('idempotent-replayed'), replay.text]).toEqual([200, 'true', made!.text]);
    expect(await moneyOf(till, made!.body.id)).toHaveLength(1);
    expect((await create({ ...wish, description: 'other' }, 'one invoice')).body.code).toBe('idempotency_key_reused');
  });
});

describe('the public invoice', () => {
  it('shows what the customer may see to who holds its address, and nothing to anybody else', async () => {
    const open = await invoice(till, { ...sent, custom_fields: { secret: 'margin' } });
    await post(`/invoices/${open.id}/comment`, { comment: 'internal' });
    const token = open.hosted_invoice_url.split('/').at(-1);
    const shown = await till.admin.as(null).get(`/invoices/public/${token}`);
    expect([shown.status, shown.body]).toMatchObject([200, { id: open.id, status: 'open', remaining_amount_atom: 1_250, billed_to: 'Ada B', lines: [{ name: 'Desk', quantity: 1, amount_atom: 1_250 }] }]);
    expect(shown.text).not.toMatch(/margin|internal|cus_stg_|price_stg_/);
    for (const wrong of ['x', `${token}x`, token.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'))]) {
      expect((await till.admin.as(null).get(`/invoices/public/${wrong}`)).status).toBe(404);
    }
    const draft = (await till.admin.get(`/invoices/${(await invoice(till)).id}`)).body;
    expect(draft.hosted_invoice_url).toBeNull();
  });
});

/** All that a preview can know: neither ids, nor the number, nor the second it is made in. */
function comparable(body: Record<string, unknown>): object {
  const unknown = new Set(['id', 'invoice_id', 'invoice_number', 'latest_payment_intent_id', 'hosted_invoice_url']);
  const times = new Set(['created_at', 'updated_at', 'finalized_at', 'paid_at', 'due_date', 'period_start', 'period_end']);
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).filter(([key]) => !unknown.has(key)).map(([key, part]) => [key, times.has(key) ? part !== null : plain(part)]));
  };
  return plain(body) as object;
}
