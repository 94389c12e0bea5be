import { jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { freshAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { eventsOf, goodForm, intentsOf, moneyOf, newLink, openLinkShop, payOnce, Visitor, type LinkShop, type Seen } from './visitor.js';

let stack: PrivateStack;
let database: Database;
let shop: LinkShop;

const thanks = 'https://shop.example/thanks';
jest.setTimeout(180_000);
const patient = { timeoutMs: 60_000 };

beforeAll(async () => {
  stack = await startStack({ extra: { SIGNALBOX_TRUSTED_PROXIES: '127.0.0.1' } });
  database = connect(stack.databaseUrl, { max: 2 });
  shop = await openShopHere();
}, 180_000);

afterAll(async () => {
  await database.close();
  await stack.stop();
}, 180_000);

async function openShopHere(): Promise<LinkShop> {
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  return openLinkShop({ account, simulatorUrl: stack.simulator.url });
}

function logs(): string {
  const folder = join(stack.home, 'logs');
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

async function count(table: 'payment_link_attempts' | 'payment_methods' | 'customers' | 'payment_intents', accountId: string): Promise<number> {
  const { rows } = await database.db.execute<{ n: string }>(sql`select count(*) as n from ${sql.identifier(table)} where account_id = ${accountId}`);
  return Number(rows[0]!.n);
}

function expectPaid(seen: Seen): void {
  expect({ status: seen.status, location: seen.location }).toEqual({ status: 303, location: thanks });
}

describe('paying', () => {
  it('leads to the seller\'s page; the payment is an intent with a charge like any other', async () => {
    const link = await newLink(shop, { success_url: thanks, custom_fields: { order: 7 } });
    const { seen } = await payOnce(link.url);
    expectPaid(seen);
    const [intent, ...more] = await intentsOf(shop, link.id);
    expect(more).toEqual([]);
    expect(intent).toMatchObject({ status: 'succeeded', amount_atom: 2_800, currency: 'eur', payment_link_id: link.id, off_session: false, custom_fields: { order: 7 } });
    expect(intent.charge_ids).toHaveLength(1);
    expect(await eventsOf(shop, intent.id)).toEqual(['payment_intent.created', 'payment_intent.succeeded']);
    const customer = await shop.admin.get(`/customers/${intent.customer_id}`);
    expect(customer.body).toMatchObject({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' });
    expect(await eventsOf(shop, intent.payment_method_id)).toEqual(['payment_method.created', 'payment_method.attached']);
    expect(await moneyOf(shop, link.id)).toMatchObject([{ amount_captured: 2_800 }]);
    const event = await shop.admin.get(`/events?object_id=${intent.id}`);
    expect(event.text).not.toContain(link.secure_token);
  });

  it('lands on our own page without a seller\'s, shows it again on reload, and begins anew only when asked', async () => {
    const link = await newLink(shop);
    const { visitor, seen } = await payOnce(link.url);
    const done = await visitor.follow(seen);
    expect(done.markup).toContain('Payment complete');
    expect(done.markup).toContain('€28.00');
    expect((await visitor.open()).markup).toContain('Payment complete');
    expectPaidPage(await visitor.follow(await visitor.pay()));
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
    const fresh = await visitor.follow(await visitor.open(`${link.url}?new=1`));
    expect(fresh.markup).toContain('Pay by card');
    expectPaidPage(await visitor.follow(await visitor.pay()));
    expect(await moneyOf(shop, link.id)).toHaveLength(2);
  });

  it('finds the customer again by the address typed at this link, and only there', async () => {
    const link = await newLink(shop);
    const email = 'buyer@example.com';
    for (let time = 0; time < 2; time += 1) await payOnce(link.url, { email });
    const [first, second] = await intentsOf(shop, link.id);
    expect(second.customer_id).toBe(first.customer_id);
    expect(first.customer_id).not.toBe(shop.customer);
    const each = await newLink(shop, { always_create_new_customer: true });
    for (let time = 0; time < 2; time += 1) await payOnce(each.url, { email });
    expect(new Set((await intentsOf(shop, each.id)).map((intent) => intent.customer_id)).size).toBe(2);
  });

  it('asks the customer that the link names for the card only', async () => {
    const link = await newLink(shop, { customer_id: shop.customer, success_url: thanks });
    const { visitor, seen } = await payOnce(link.url, { email: 'other@example.com' });
    expectPaid(seen);
    expect((await new Visitor(link.url).open()).markup).not.toContain('name="email"');
    expect(visitor.cookies.size).toBe(1);
    expect((await intentsOf(shop, link.id))[0].customer_id).toBe(shop.customer);
  });

  it('keeps card data and tokens out of every log', async () => {
    const link = await newLink(shop);
    await payOnce(link.url, { number: '5555 5555 5555 4444', cvc: '987' });
    await payOnce(link.url, { number: '4111 1111 1111 1111', cvc: '987' });
    const text = logs();
    for (const secret of ['5555555555554444', '5555 5555 5555 4444', '4111111111111111', '4111 1111 1111 1111', link.secure_token]) expect(text).not.toContain(secret);
    expect(text).toContain('/pay/:token');
  });
});

function expectPaidPage(seen: Seen): void {
  expect(seen.status).toBe(200);
  expect(seen.markup).toContain('Payment complete');
}

describe('what is typed wrong', () => {
  it('is told at the fields; what was typed stays, the card never comes back', async () => {
    const link = await newLink(shop);
    const { seen } = await payOnce(link.url, { email: 'ada', name: 'Ada "<b>', number: '4242 4242 4242 4241', expiry: '01/20', cvc: '12' });
    expect(seen.status).toBe(422);
    for (const id of ['email', 'number', 'expiry', 'cvc']) expect(seen.markup).toMatch(new RegExp(`id="${id}-error">[^<]+<`));
    expect(seen.markup).toContain('value="Ada &quot;&lt;b&gt;"');
    expect(seen.markup).not.toMatch(/4242 ?4242 ?4242 ?4241/);
    expect(seen.markup).toContain('autofocus');
  });

  it('a card that is no test card is refused before anything is stored, counted or sent', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh);
    const { seen } = await payOnce(link.url, { number: '4111 1111 1111 1111' });
    expect(seen.status).toBe(422);
    expect(seen.markup).toContain('use a test card');
    expect(await count('payment_link_attempts', fresh.id)).toBe(0);
    expect(await count('payment_methods', fresh.id)).toBe(0);
  });

  it('a form of another link, a made-up one or none begins nothing: a fresh form comes back', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh);
    const other = new Visitor((await newLink(fresh)).url);
    const foreign = /name="form" value="([^"]+)"/.exec((await other.open()).markup)![1]!;
    for (const form of [foreign, 'x.y', `${foreign}A`, '']) {
      const answer = await fetch(link.url, { method: 'POST', body: new URLSearchParams({ ...goodForm, form, try: '0' }) });
      expect(answer.status).toBe(422);
      expect(await answer.text()).toContain('open for too long');
    }
    expect(await count('payment_link_attempts', fresh.id)).toBe(0);
  });
});

describe('a decline', () => {
  it('when the card is authorised leaves no customer and no payment; another card then pays', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh, { success_url: thanks });
    const customers = await count('customers', fresh.id);
    const { visitor, seen } = await payOnce(link.url, { number: '4000000000000002' });
    expect(seen.status).toBe(402);
    expect(seen.markup).toContain('Your card was declined');
    expect(seen.markup).toContain('You have not been charged');
    expect(seen.markup).toContain('value="ada@example.com"');
    expect(await count('customers', fresh.id)).toBe(customers);
    expect(await count('payment_intents', fresh.id)).toBe(0);
    expectPaid(await visitor.pay());
    expect(await moneyOf(fresh, link.id)).toHaveLength(1);
  });

  it('when it is charged keeps the intent: the next card confirms the same one', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const { visitor, seen } = await payOnce(link.url, { number: '4000000000009995' });
    expect(seen.status).toBe(402);
    expect(seen.markup).toContain('not enough money');
    const again = await visitor.open();
    expect(again.status).toBe(200);
    expect(again.markup).toContain('not enough money');
    expect(again.markup).not.toContain('name="email"');
    expectPaid(await visitor.pay());
    const [intent, ...more] = await intentsOf(shop, link.id);
    expect(more).toEqual([]);
    expect(intent.charge_ids).toHaveLength(2);
    expect(intent.status).toBe('succeeded');
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
  });

  it('that nobody could take is no fault of the card', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh, { custom_fields: { simulate: 'connection_refused' } });
    const { seen } = await payOnce(link.url);
    expect(seen.status).toBe(402);
    expect(seen.markup).toContain('could not be made');
  });
});

describe('a payment that takes its time', () => {
  it('waits on a page that moves on by itself, and ends at the seller\'s', async () => {
    const link = await newLink(shop, { success_url: thanks, custom_fields: { simulate: 'pending_then_approved' } });
    const { visitor, seen } = await payOnce(link.url);
    const waiting = await visitor.follow(seen);
    expect(waiting.markup).toContain('http-equiv="refresh"');
    expect(waiting.markup).toContain('Do not pay again');
    const url = /content="\d+;url=([^"]+)"/.exec(waiting.markup)![1]!;
    const done = await eventually(async () => {
      const current = await visitor.open(new URL(url, link.url).href);
      return current.status === 303 ? current : null;
    }, patient);
    expectPaid(done);
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
  });

  it('goes to the challenge and comes back paid', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const { visitor, seen } = await payOnce(link.url, { number: '4000002760003184' });
    expect(seen.status).toBe(303);
    expect(seen.location).toMatch(new RegExp(`^${stack.simulator.url}/challenges/`));
    const back = await answerChallenge(seen.location!, 'passed');
    expect(back).toMatch(/\/pay\/return\/pi_stg_[0-9a-z]{26}$/);
    expect(back).not.toContain(link.secure_token);
    expectPaid(await comeBack(visitor, back));
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
  });

  it('comes back from a refused challenge to the form', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const { visitor, seen } = await payOnce(link.url, { number: '4000002760003184' });
    const back = await answerChallenge(seen.location!, 'failed');
    const form = await comeBack(visitor, back);
    expect(form.status).toBe(200);
    expect(form.markup).toContain('You have not been charged');
    expectPaid(await visitor.pay());
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
  });

  it('tells a browser without cookies how it ended, and nothing else', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const visitor = new Visitor(link.url, undefined, false);
    await visitor.open();
    const seen = await visitor.pay({ number: '4000002760003184' });
    const back = await answerChallenge(seen.location!, 'passed');
    const told = await eventually(async () => {
      const current = await visitor.open(back);
      return current.markup.includes('Payment complete') ? current : null;
    }, patient);
    expect(told.markup).not.toContain(link.secure_token);
    expect(told.markup).not.toContain('shop.example');
  });
});

async function answerChallenge(url: string, result: 'passed' | 'failed'): Promise<string> {
  const answer = await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ result }) });
  expect(answer.status).toBe(303);
  return answer.headers.get('location')!;
}

/** Follows the way back until the outcome is known. */
async function comeBack(visitor: Visitor, back: string): Promise<Seen> {
  return eventually(async () => {
    const current = await visitor.follow(await visitor.open(back));
    return current.markup.includes('http-equiv="refresh"') ? null : current;
  }, patient);
}

describe('exactly one payment per form', () => {
  it('however often it is sent at once', async () => {
    const link = await newLink(shop, { success_url: thanks });
    const visitor = new Visitor(link.url);
    await visitor.open();
    const seen = await Promise.all(Array.from({ length: 8 }, () => visitor.pay()));
    for (const each of seen) expect(each.status).toBe(303);
    const ends = await Promise.all(seen.map((each) => eventually(async () => {
      const current = await visitor.follow(each.location === thanks ? each : await visitor.open(new URL(each.location!, link.url).href));
      return current.location === thanks ? current : null;
    }, patient)));
    ends.forEach(expectPaid);
    expect(await intentsOf(shop, link.id)).toHaveLength(1);
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
  });

  it('when the API is killed while the money moves', async () => {
    const link = await newLink(shop, { success_url: thanks, custom_fields: { simulate: 'delay_5s' } });
    const visitor = new Visitor(link.url);
    await visitor.open();
    const lost = visitor.pay().catch((error: unknown) => error);
    await eventually(async () => (await intentsOf(shop, link.id)).length === 1, patient);
    await stack.api.kill9();
    expect(await lost).not.toHaveProperty('status');
    await stack.api.restart();
    const again = await visitor.pay();
    expect(again.status).toBe(303);
    const done = await eventually(async () => {
      const current = await visitor.follow(await visitor.open());
      return current.markup.includes('Payment complete') || current.location === thanks ? current : null;
    }, patient);
    expect(done.status).toBeLessThan(400);
    expect(await moneyOf(shop, link.id)).toHaveLength(1);
    expect((await intentsOf(shop, link.id))[0].charge_ids).toHaveLength(1);
  });

  it('when the API is killed before the payment exists: the form comes back and pays once', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh, { success_url: thanks });
    const visitor = new Visitor(link.url);
    await visitor.open();
    const lost = visitor.pay().catch((error: unknown) => error);
    await eventually(async () => (await count('payment_link_attempts', fresh.id)) === 1, { ...patient, intervalMs: 1 });
    await stack.api.kill9();
    await lost;
    await stack.api.restart();
    await database.db.execute(sql`update payment_link_attempts set created_at = created_at - interval '31 seconds' where account_id = ${fresh.id}`);
    const current = await eventually(async () => {
      const seen = await visitor.follow(await visitor.open());
      return seen.markup.includes('http-equiv="refresh"') ? null : seen;
    }, patient);
    if (current.markup.includes('Pay by card')) expectPaid(await visitor.pay());
    expect(await moneyOf(fresh, link.id)).toHaveLength(1);
  });
});

describe('against card testing', () => {
  it('an address may try ten times in ten minutes, also when it tries all at once', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh, { success_url: thanks });
    const address = new Visitor(link.url).address;
    const cards = [{ number: '4242424242424242' }, { number: '5555555555554444' }, { number: '378282246310005', cvc: '1234' }];
    const tries = await Promise.all(Array.from({ length: 14 }, (_, index) => payOnce(link.url, cards[index % 3]!, address)));
    const statuses = tries.map(({ seen }) => seen.status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(303), ...Array<number>(4).fill(429)]);
    const refused = tries.find(({ seen }) => seen.status === 429)!.seen;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(500);
    expect(refused.markup).toContain('Too many tries');
    expect(await count('payment_link_attempts', fresh.id)).toBe(10);
    expectPaid((await payOnce(link.url)).seen);
  });

  it('a card may fail five times in an hour over all links of the account', async () => {
    const fresh = await openShopHere();
    const [one, other] = [await newLink(fresh), await newLink(fresh, { success_url: thanks })];
    const number = '4000000000000341';
    for (let time = 0; time < 5; time += 1) expect((await payOnce(one.url, { number })).seen.status).toBe(402);
    expect((await payOnce(other.url, { number })).seen.status).toBe(429);
    expectPaid((await payOnce(other.url)).seen);
    const elsewhere = await newLink(shop);
    expect((await payOnce(elsewhere.url, { number })).seen.status).toBe(402);
  });

  it('twenty declines pause the link by itself, once; resolving the attention item reopens it', async () => {
    const fresh = await openShopHere();
    const link = await newLink(fresh, { success_url: thanks });
    const cards = ['4000000000000002', '4000000000000341', '4000000000009995', '4000000000009987', '4000000000009979'];
    for (let round = 0; round < 4; round += 1) {
      const seen = await Promise.all(cards.map((number) => payOnce(link.url, { number })));
      expect(seen.map((each) => each.seen.status)).toEqual(cards.map(() => 402));
    }
    const page = await new Visitor(link.url).open();
    expect(page.status).toBe(410);
    expect(page.markup).toContain('This link is not active');
    expect((await payOnce(link.url)).seen.status).toBe(422);
    expect((await fresh.admin.get(`/payment-link/${link.id}`)).body).toMatchObject({ active: false, inactive_reason: 'declines' });
    expect(await eventsOf(fresh, link.id)).toEqual(['payment_link.created', 'payment_link.paused']);
    const { body: attention } = await fresh.readOnly.get('/attention?status=open');
    expect(attention.data).toMatchObject([{ type: 'payment_link_paused', object_id: link.id }]);
    expect((await fresh.admin.put(`/payment-link/${link.id}`, { active: true })).status).toBe(409);
    expect((await fresh.operator.post(`/attention/${attention.data[0].id}/resolve`)).status).toBe(403);
    expect((await fresh.admin.post(`/attention/${attention.data[0].id}/resolve`)).status).toBe(200);
    expect(await eventsOf(fresh, link.id)).toEqual(['payment_link.created', 'payment_link.paused', 'payment_link.updated']);
    expect((await payOnce(link.url, { number: '4000000000000069' })).seen.status).toBe(402);
    expectPaid((await payOnce(link.url)).seen);
  });

  it('a payer whose payment is done sees it also when the link is switched off', async () => {
    const link = await newLink(shop);
    const { visitor, seen } = await payOnce(link.url);
    await shop.admin.put(`/payment-link/${link.id}`, { active: false });
    expectPaidPage(await visitor.follow(seen));
    expect((await visitor.open()).markup).not.toContain('Make another payment');
    expect((await new Visitor(link.url).open()).status).toBe(410);
  });
});
