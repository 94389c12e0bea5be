import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { signPost } from '../../libs/webhooks/deliver.js';
import type { DataFormat } from '../../libs/webhooks/payload.js';
import { receiversDocument, snippets } from '../../libs/webhooks/receivers.document.js';
import { mintSecret } from '../../libs/webhooks/secret.js';
import { verifyWebhook } from '../../libs/webhooks/verify.js';

const now = 1_800_000_000;
const [live, retiring, foreign] = [mintSecret(), mintSecret(), mintSecret()];
const brought = [24, 64].map((bytes) => `whsec_${randomBytes(bytes).toString('base64')}`);
const drivers = resolve('test/webhooks/receivers');
const page = 'libs/webhooks/RECEIVERS.md';

interface Case {
  name: string;
  valid: boolean;
  format: DataFormat;
  secrets: string[];
  now: number;
  headers: Record<string, string>;
  body: Buffer;
}

const plain = { amount_atom: 1500, currency: 'eur', note: 'ok' };
const events: Record<string, { key: string; data: object }> = {
  'a plain event': { key: 'k', data: plain },
  'an event in many scripts': { key: 'Zoë","data":{}', data: { name: 'Zoë 日本 😀 "quoted" \\ / \u2028 \t', 'schlüssel': ['}', null, 'a\nb'] } },
  'a large event': { key: 'k', data: { list: Array.from({ length: 3_000 }, (_, index) => ({ n: index, text: 'é"' })) } },
};

function signed(format: DataFormat, { key, data }: { key: string; data: object }, signing: string[]): Pick<Case, 'headers' | 'body'> {
  const head = JSON.stringify({ id: 'event_stg_01h455vb4pex5vsknk084sn02q', object: 'event', request_idempotency_key: key, sequence: 1, user: null });
  const event = { eventId: 'event_stg_01h455vb4pex5vsknk084sn02q', head, data: JSON.stringify(data), createdAt: new Date((now - 9_999) * 1000) };
  const post = signPost({ endpointId: 'webhook_endpoint_stg_01h455vb4pex5vsknk084sn02q', format, secrets: signing }, event, new Date(now * 1000));
  return { headers: post.headers, body: Buffer.from(post.body) };
}

function casesOf(format: DataFormat): Case[] {
  const good = signed(format, events['a plain event']!, [live]);
  const base = { format, secrets: [live], now, ...good };
  const changed = (name: string, changes: Partial<Case>): Case => ({ ...base, name: `${name}, ${format}`, valid: false, ...changes });
  const header = (name: string, value: string): Partial<Case> => ({ headers: { ...good.headers, [name]: value } });
  const digest = good.headers['signature-digest']!;
  const edit = (from: string, to: string) => ({ body: Buffer.from(good.body.toString().replace(from, to)) });
  const both = signed(format, events['a plain event']!, [live, retiring]);
  return [
    ...Object.entries(events).map(([name, event]) => changed(name, { valid: true, ...signed(format, event, [live]) })),
    changed('signed twice, for who has the newer secret', { valid: true, ...both }),
    changed('signed twice, for who has the older secret', { valid: true, ...both, secrets: [retiring] }),
    changed('signed once, for who has both secrets', { valid: true, secrets: [retiring, live] }),
    ...brought.map((secret) => changed(`with a secret of ${secret.length} characters`, { valid: true, ...signed(format, events['a plain event']!, [secret]), secrets: [secret] })),
    changed('with a signature of a later version', { valid: true, headers: { ...good.headers, 'webhook-signature': `v2,abc ${good.headers['webhook-signature']}`, 'signature-digest': digest.replace(',v1=', ',v2=abc,v1=') } }),
    changed('299 s old', { valid: true, now: now + 299 }),
    changed('another secret', { secrets: [foreign] }),
    changed('another amount', edit('1500', '9500')),
    changed('another field before data', edit('event_stg', 'Event_stg')),
    changed('a space more', { body: Buffer.concat([good.body, Buffer.from(' ')]) }),
    changed('bytes that are no text', { body: Buffer.concat([good.body.subarray(0, -1), Buffer.from([0xff, 0x7d])]) }),
    changed('no data', { body: Buffer.from('{}') }),
    changed('no JSON', { body: Buffer.from('}') }),
    changed('no body', { body: Buffer.from('-') }),
    changed('another id', header('webhook-id', 'event_stg_01h455vb4pex5vsknk084sn02r')),
    changed('another time', header('webhook-timestamp', String(now + 1))),
    changed('a time that is none', header('webhook-timestamp', `${now}.0`)),
    changed('a time beyond numbers', header('webhook-timestamp', '9'.repeat(40))),
    changed('no time', header('webhook-timestamp', '')),
    changed('an empty signature', header('webhook-signature', '')),
    changed('no more than the version of a signature', header('webhook-signature', 'v1,')),
    changed('the beginning of a signature', header('webhook-signature', good.headers['webhook-signature']!.slice(0, 20))),
    changed('the beginning of a digest', header('signature-digest', digest.slice(0, 40))),
    changed('no more than the version of a digest', header('signature-digest', `t=${now - 9_999},v1=`)),
    changed('a signature of a later version only', header('webhook-signature', good.headers['webhook-signature']!.replace('v1,', 'v2,'))),
    changed('another event time', header('signature-digest', digest.replace(/t=\d+/, `t=${now}`))),
    changed('another digest', header('signature-digest', digest.replace(/.$/, (last) => (last === '0' ? '1' : '0')))),
    changed('no digest', header('signature-digest', '')),
    changed('301 s old', { now: now + 301 }),
    changed('301 s early', { now: now - 301 }),
  ];
}

const cases = [...casesOf('object'), ...casesOf('string')];
const input = cases.map(({ format, now: at, secrets, headers, body }) => {
  const pairs = Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n');
  return [format, at, secrets.join(','), Buffer.from(pairs).toString('base64'), body.toString('base64')].join(' ');
}).join('\n');

let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'signalbox-receivers-')); });
afterAll(() => rmSync(folder, { recursive: true }));

function place(names: readonly string[], from: string, to = folder): void {
  mkdirSync(to, { recursive: true });
  for (const name of names) cpSync(join(from, name), join(to, name));
}

function run(command: string, args: string[], { cwd = folder, text = '' } = {}): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, GO111MODULE: 'on', GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' } });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => { out += chunk.toString(); });
    child.stderr.on('data', (chunk: Buffer) => { err += chunk.toString(); });
    child.once('error', fail).once('close', (code) => (code === 0 ? done(out) : fail(new Error(`${command} ended with ${code}: ${err}`))));
    child.stdin.on('error', () => undefined).end(text);
  });
}

const source = resolve('libs/webhooks/receivers');
const programs: Record<(typeof snippets)[number]['language'], { needs: string; args: string; verdicts: () => Promise<string> }> = {
  Python: { needs: 'python3', args: '--version', verdicts: () => run('python3', ['-B', join(drivers, 'driver.py'), source], { text: input }) },
  Go: {
    needs: 'go',
    args: 'version',
    async verdicts() {
      const cwd = join(folder, 'go');
      place(['webhook_verification.go'], source, join(cwd, 'webhook'));
      place(['driver.go'], drivers, cwd);
      writeFileSync(join(cwd, 'go.mod'), 'module receiver\n\ngo 1.21\n');
      return run('go', ['run', '.'], { cwd, text: input });
    },
  },
  Java: {
    needs: 'javac',
    args: '-version',
    async verdicts() {
      const cwd = join(folder, 'java');
      place(['WebhookVerification.java'], source, cwd);
      place(['Driver.java'], drivers, cwd);
      const quick = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
      await run('javac', [...quick.map((flag) => `-J${flag}`), 'WebhookVerification.java', 'Driver.java'], { cwd });
      return run('java', [...quick, '-cp', '.', 'Driver'], { cwd, text: input });
    },
  },
  Ruby: { needs: 'ruby', args: '-v', verdicts: () => run('ruby', [join(drivers, 'driver.rb'), source], { text: input }) },
  PHP: { needs: 'php', args: '-v', verdicts: () => run('php', [join(drivers, 'driver.php'), source], { text: input }) },
};

const isHere = (language: keyof typeof programs): boolean => spawnSync(programs[language].needs, [programs[language].args]).status === 0;
const expected = cases.map(({ name, valid }) => `${name}: ${valid}`);

describe('a receiver tells good webhooks from changed, old and foreign ones, in both formats', () => {
  for (const { language } of snippets) {
    (isHere(language) ? it : it.skip)(`written in ${language}`, async () => {
      const verdicts = (await programs[language].verdicts()).trim().toLowerCase().split('\n');
      expect(cases.map(({ name }, index) => `${name}: ${verdicts[index]}`)).toEqual(expected);
    }, 180_000);
  }

  it('written in TypeScript', () => {
    expect(cases.map((one) => `${one.name}: ${verifyWebhook(one, { nowSeconds: one.now }).valid}`)).toEqual(expected);
  });

  it('with the package\'s own entry point', async () => {
    const [{ headers, body, secrets }] = cases as [Case];
    const script = `import { verifyWebhook } from 'signalbox/webhooks';
      console.log(JSON.stringify([${now}, ${now + 400}].map((nowSeconds) => verifyWebhook(${JSON.stringify({ headers, body: body.toString(), secrets })}, { nowSeconds }))));`;
    const out = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: process.cwd() });
    expect(JSON.parse(out)).toEqual([{ valid: true }, { valid: false, reason: 'webhook-timestamp is outside the tolerance' }]);
  });

  it('as the page shows it (SIGNALBOX_UPDATE_RECEIVERS=1 writes it anew)', () => {
    if (process.env.SIGNALBOX_UPDATE_RECEIVERS === '1') writeFileSync(page, receiversDocument());
    expect(readFileSync(page, 'utf8')).toBe(receiversDocument());
  });
});
