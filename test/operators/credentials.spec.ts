import { jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sign, signatureHeader } from '../../libs/processors/http/http.signature.js';
import { cardOf, openShop, pay, settled } from '../payments/shop.js';
import { openEngine } from '../support/engine.js';
import { clearTextOf } from '../support/history.js';
import { freshAccount } from '../support/account.js';
import { untilShown } from '../support/events.js';
import { eventually, shared } from '../support/stack.js';

jest.setTimeout(180_000);

const secret = () => `marker_${randomBytes(24).toString('hex')}`;

describe('credentials', () => {
  it('are rotated with an overlap, disabled and enabled, each an event that tells none of them', async () => {
    const { admin, operator, readOnly } = await freshAccount();
    const [first, second] = [secret(), secret()];
    const made = await admin.post('/payment-processors/', { name: 'P', kind: 'simulator', credentials: { secret: first, api_key: first } });
    const path = `/payment-processors/${made.body.id}`;
    expect(made.body).toMatchObject({ has_credentials: true, credentials_overlap_until: null });
    const rotated = await admin.post(`${path}/rotate-credentials`, { credentials: { secret: second }, overlap_seconds: 3_600 }, { key: 'rotate' });
    expect(rotated.status).toBe(200);
    const until = Date.parse(rotated.body.credentials_overlap_until);
    expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(30_000);
    expect((await admin.post(`${path}/rotate-credentials`, { credentials: { secret: second }, overlap_seconds: 3_600 }, { key: 'rotate' })).text).toBe(rotated.text);
    expect((await admin.post(`${path}/rotate-credentials`, { credentials: { secret: first }, overlap_seconds: 0 })).body.credentials_overlap_until).toBeNull();
    expect((await admin.post(`${path}/disable`)).body.is_enabled).toBe(false);
    expect((await admin.post(`${path}/enable`)).body.is_enabled).toBe(true);
    expect((await admin.put(path, { credentials: null })).body).toMatchObject({ has_credentials: false });
    for (const action of ['rotate-credentials', 'disable', 'enable']) {
      const body = action === 'rotate-credentials' ? { credentials: { secret: first } } : {};
      expect((await operator.post(`${path}/${action}`, body)).status).toBe(403);
    }
    expect((await readOnly.post(`${path}/check`)).status).toBe(403);
    expect((await operator.post(`${path}/check`)).body).toMatchObject({ ok: true, detail: expect.any(String), duration_ms: expect.any(Number) });
    await untilShown();
    const events = (await admin.get(`/events?object_id=${made.body.id}&limit=50`)).text;
    expect(events).toContain('payment_processor.created');
    expect(events).not.toContain('marker_');
    const stranger = await freshAccount();
    for (const action of ['rotate-credentials', 'disable', 'enable', 'check']) {
      const body = action === 'rotate-credentials' ? { credentials: { secret: first } } : {};
      expect((await stranger.admin.post(`${path}/${action}`, body)).status).toBe(404);
    }
  });

  it('are refused by field, without their value in the error', async () => {
    const { admin } = await freshAccount();
    const { body } = await admin.post('/payment-processors/', { name: 'P', kind: 'simulator', credentials: { secret: secret() } });
    const path = `/payment-processors/${body.id}/rotate-credentials`;
    const marker = secret();
    for (const wrong of [{}, { credentials: { previous_secret: marker } }, { credentials: { secret: marker }, overlap_seconds: 8 * 86_400 }, { credentials: { Secret: marker } }]) {
      const answer = await admin.post(path, wrong);
      expect([answer.status, answer.text.includes(marker)]).toEqual([422, false]);
    }
  });

  it('that a provider signs its callbacks with are accepted for the overlap, and not after it', async () => {
    const { admin } = await freshAccount();
    const [first, second] = [secret(), secret()];
    const settings = { base_url: 'http://127.0.0.1:9' };
    const made = await admin.post('/payment-processors/', { name: 'Own', kind: 'http', settings, credentials: { secret: first } });
    expect(made.status).toBe(201);
    const call = async (key: string) => {
      const raw = JSON.stringify({ id: `evt_${randomBytes(6).toString('hex')}`, type: 'ping', created_at: new Date().toISOString(), payment: null });
      const signature = sign(key, { kind: 'callback', body: raw }, Math.floor(Date.now() / 1_000));
      const headers = { 'content-type': 'application/json', [signatureHeader]: signature };
      return (await admin.as(null).post(`/callbacks/${made.body.id}`, undefined, { raw, headers })).status < 300;
    };
    expect(await call(first)).toBe(true);
    await admin.post(`/payment-processors/${made.body.id}/rotate-credentials`, { credentials: { secret: second }, overlap_seconds: 8 });
    expect(await eventually(() => call(second))).toBe(true);
    expect(await call(first)).toBe(true);
    await eventually(async () => !(await call(first)), { timeoutMs: 90_000 });
    expect(await call(second)).toBe(true);
    expect(await call(secret())).toBe(false);
  });

  it('are nowhere but in their sealed column: not in answers, tables, logs or histories', async () => {
    const shop = await openShop();
    const markers = [secret(), secret()];
    await shop.admin.put(`/payment-processors/${shop.a}`, { credentials: { secret: markers[0], api_key: markers[0] } });
    await shop.admin.post(`/payment-processors/${shop.a}/rotate-credentials`, { credentials: { secret: markers[1], api_key: markers[1] } });
    const method = await cardOf(shop);
    const payments = await Promise.all(['approved', 'misconfigured', 'error_after_charge', 'malformed_answer'].map((name) => pay(shop, { method, simulate: { [shop.a]: name } })));
    const ids = payments.map(({ body }) => (body.id ?? body.payment_intent_id) as string);
    await settled(shop, ids[0]!, 'succeeded');
    await untilShown();
    const answers = await Promise.all(['/payment-processors', `/payment-processors/${shop.a}`, '/events?limit=100', '/charges?limit=100', '/attention'].map((path) => shop.admin.get(path)));
    const checked = await shop.admin.post(`/payment-processors/${shop.a}/check`);
    const texts = [...answers, ...payments, checked].map(({ text }) => text);

    const engine = await openEngine();
    for (const id of ids) texts.push(clearTextOf(await engine.client.workflow.getHandle(`payment/${id}`).fetchHistory()));
    await engine.close();
    for (const name of readdirSync(join(shared.home, 'logs'))) texts.push(readFileSync(join(shared.home, 'logs', name), 'utf8'));
    texts.push(...(await everyRow()));

    const encoded = markers.flatMap((marker) => [marker, Buffer.from(marker).toString('base64').replace(/=+$/, ''), Buffer.from(marker).toString('hex')]);
    expect(texts.length).toBeGreaterThan(20);
    for (const text of texts) expect(encoded.filter((marker) => text.includes(marker))).toEqual([]);
  });
});

/** Every row of every table, as text. */
async function everyRow(): Promise<string[]> {
  const client = new pg.Client({ connectionString: shared.databaseUrlStaging });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>("select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'");
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from "${name}" t order by 1 desc limit 3000`);
      texts.push(rows.map(({ row }) => row).join('\n'));
    }
    return texts;
  } finally {
    await client.end();
  }
}
