import { randomInt } from 'node:crypto';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTimeOf } from '../../apps/cli/src/stack/process.js';
import { cacheFolder, findTemporal } from '../../apps/cli/src/stack/temporal-binary.js';
import { cliEntry, Installation } from '../support/installation.js';
import { eventually, shared } from '../support/stack.js';

const patience = 180_000;
const installations: Installation[] = [];

function installation(path?: string): Installation {
  const made = new Installation(path);
  installations.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(installations.splice(0).map((made) => made.remove()));
}, patience);

async function statusOf(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api-tokens/`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}

function listen(port: number): Promise<Server> {
  return new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(port, '127.0.0.1', () => done(server));
  });
}

/** Where a row of ports begins of which none is taken. */
async function freeBase(): Promise<number> {
  for (;;) {
    const base = randomInt(20_000, 32_000);
    const row = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => listen(base + index)));
    for (const each of row) if (each.status === 'fulfilled') each.value.close();
    if (row.every(({ status }) => status === 'fulfilled')) return base;
  }
}

const nobody = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':')).find(([name]) => name === 'nobody');
const isRoot = process.getuid?.() === 0;

describe('signalbox start', () => {
  it('serves, says where in ready.json (0600), and leaves nothing behind when it is stopped', async () => {
    const one = installation();
    const run = one.run(['start']);
    const ready = await one.ready(run);
    expect(ready).toEqual({
      pid: run.pid,
      staging: { api: expect.stringMatching(/^http:/), docs: expect.stringMatching(/\/docs$/), token: expect.stringMatching(/^st_stg_/) },
      production: { api: expect.stringMatching(/^http:/), docs: expect.stringMatching(/\/docs$/), token: expect.stringMatching(/^st_prod_/) },
      temporal: { address: expect.stringMatching(/^127\.0\.0\.1:\d+$/), ui: expect.stringMatching(/^http:/) },
    });
    for (const name of ['ready.json', 'secrets.json', 'tokens.json']) expect(statSync(one.home.file(name)).mode & 0o777).toBe(0o600);
    expect(await statusOf(ready.staging!.api, ready.staging!.token)).toBe(200);
    expect(await statusOf(ready.production!.api, ready.production!.token)).toBe(200);
    expect(await statusOf(ready.production!.api, ready.staging!.token)).toBe(401);
    const children = one.childPids();
    expect(children).toHaveLength(7);
    expect((await one.stop()).output).toContain('Stopped.');
    expect(await run.exit).toBe(0);
    expect(children.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
    expect(existsSync(one.home.file('ready.json'))).toBe(false);
  }, patience);

  it('runs once per folder and side by side in two folders, started in the same moment, and takes the next free ports where some are taken', async () => {
    const base = await freeBase();
    const taken = await Promise.all([listen(base + 1), listen(base + 3)]);
    try {
      const [one, two] = [installation(), installation()];
      const runs = [one.run(['start', '--env', 'staging']), one.run(['start', '--env', 'staging'])];
      const other = two.run(['start', '--env', 'staging'], { env: { SIGNALBOX_PORT_BASE: String(base) } });
      const [first, second] = await Promise.all([eventually(() => one.home.ready(), { timeoutMs: 90_000 }), two.ready(other)]);
      expect(first.staging!.api).not.toBe(second.staging!.api);
      const late = runs.find(({ pid }) => pid !== first.pid)!;
      expect(await late.exit).toBe(0);
      expect(late.output).toContain(first.staging!.api);
      expect(late.output).toContain(first.staging!.token);
      expect(await statusOf(first.staging!.api, first.staging!.token)).toBe(200);
      expect(await statusOf(second.staging!.api, second.staging!.token)).toBe(200);
      expect(second.temporal.address).toBe(`127.0.0.1:${base + 4}`);
      expect(second.staging!.api).not.toBe(`http://127.0.0.1:${base + 1}`);
    } finally {
      taken.forEach((server) => server.close());
    }
  }, patience);

  it('ends what a killed root left behind, keeps its data over kill -9 of everything, starts a process again that ends by itself, and stops when npm above it is gone without a word', async () => {
    const one = installation();
    const elsewhere = { SIGNALBOX_PORT_BASE: String(await freeBase()) };
    const before = await one.ready(one.run(['start', '--env', 'staging'], { env: elsewhere }));
    const made = one.run(['account', 'create', 'Second']);
    expect(await made.exit).toBe(0);
    const token = /st_stg_\w+/.exec(made.output)![0];
    const survivors = one.childPids();
    process.kill(before.pid, 'SIGKILL');
    await eventually(() => startTimeOf(before.pid) === null);
    expect(survivors.filter((pid) => startTimeOf(pid) !== null)).toEqual(survivors);
    const next = one.run(['start', '--env', 'staging']);
    const again = await one.ready(next);
    expect(next.output).toMatch(/ended what an earlier start left behind: .*postgres/);
    expect(survivors.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
    expect(again.staging!.api).toBe(before.staging!.api);
    await one.kill9();
    expect(one.home.ready()).not.toBeNull();
    const run = one.run(['start', '--env', 'staging'], { belowShell: true });
    const after = await one.ready(run);
    expect(after.staging!.token).toBe(before.staging!.token);
    expect(await statusOf(after.staging!.api, token)).toBe(200);

    const api = one.home.children().find(({ name }) => name === 'api-staging')!;
    process.kill(api.pid, 'SIGKILL');
    await eventually(() => run.output.includes('api-staging ended (ended by SIGKILL): starting it again'));
    expect(await eventually(() => statusOf(after.staging!.api, token), { timeoutMs: 90_000 })).toBe(200);
    const children = one.childPids();
    process.kill(run.pid, 'SIGKILL');
    await eventually(() => [after.pid, ...children].every((pid) => startTimeOf(pid) === null), { timeoutMs: 90_000 });
    expect(existsSync(one.home.file('ready.json'))).toBe(false);
  }, patience);

  it('starts one environment only with --env, without the simulator in production; as root Postgres lives where its account can enter, and is found again', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'signalbox-test-cli-'));
    chmodSync(parent, 0o700);
    const one = installation(parent);
    const before = await one.ready(one.run(['start', '--env', 'production']));
    expect([before.staging, typeof before.production]).toEqual([undefined, 'object']);
    expect(one.home.children().map(({ name }) => name).sort()).toEqual(['api-production', 'postgres', 'temporal', 'worker-production']);
    if (isRoot) expect(one.home.state().postgresFolder).toMatch(/^\/var\/lib\/signalbox\//);
    await one.stop();
    const after = await one.ready(one.run(['start', '--env', 'production']));
    expect(after.production!.token).toBe(before.production!.token);
  }, patience);

  it('stops in order when it is told to while it starts', async () => {
    const one = installation();
    const run = one.run(['start', '--env', 'staging']);
    await eventually(() => one.home.children().length > 0, { timeoutMs: 90_000 });
    process.kill(run.pid, 'SIGTERM');
    await run.exit;
    expect(one.childPids()).toEqual([]);
    expect(existsSync(one.home.file('lock'))).toBe(false);
  }, patience);

  it('refuses a port base that is none', async () => {
    const run = installation().run(['start'], { env: { SIGNALBOX_PORT_BASE: '65530' } });
    expect(await run.exit).toBe(1);
    expect(run.output).toContain('SIGNALBOX_PORT_BASE is "65530"');
  }, patience);

  it('tells which part did not start, and shows the end of its log', async () => {
    const one = installation();
    const run = one.run(['start', '--env', 'staging'], { env: { DATABASE_POOL_SIZE: 'many' } });
    expect(await run.exit).toBe(1);
    expect(run.output).toMatch(/did not start: exit code 1/);
    expect(run.output).toContain('DATABASE_POOL_SIZE is not a whole number (it is "many")');
    expect(one.childPids()).toEqual([]);
  }, patience);

  it('uses a Postgres and a Temporal that are there already', async () => {
    const one = installation();
    const database = shared.databaseUrlStaging.replace(/signalbox_staging$/, 'elsewhere');
    const env = { DATABASE_URL: database, TEMPORAL_ADDRESS: shared.temporalAddress, TEMPORAL_NAMESPACE: 'elsewhere' };
    const ready = await one.ready(one.run(['start', '--env', 'staging'], { env }));
    expect(ready.temporal).toEqual({ address: shared.temporalAddress, ui: null });
    expect(one.home.children().map(({ name }) => name).sort()).toEqual(['api-staging', 'simulator', 'worker-staging']);
    expect(await statusOf(ready.staging!.api, ready.staging!.token)).toBe(200);
  }, patience);

  (isRoot && nobody !== undefined && isReachable() ? it : it.skip)('runs as a person without rights', async () => {
    const user = { uid: Number(nobody![2]), gid: Number(nobody![3]) };
    const parent = mkdtempSync(join(tmpdir(), 'signalbox-test-cli-'));
    await findTemporal(() => undefined);
    const cache = join(parent, 'cache');
    if (existsSync(cacheFolder())) cpSync(cacheFolder(), cache, { recursive: true });
    const own = (path: string) => {
      chownSync(path, user.uid, user.gid);
      if (statSync(path).isDirectory()) readdirSync(path).forEach((name) => own(join(path, name)));
    };
    own(parent);
    const one = installation(parent);
    const ready = await one.ready(one.run(['start', '--env', 'staging'], { user, env: { HOME: parent, SIGNALBOX_CACHE: cache } }));
    expect(statSync(one.home.file('postgres')).uid).toBe(user.uid);
    expect(await statusOf(ready.staging!.api, ready.staging!.token)).toBe(200);
    rmSync(cache, { recursive: true, force: true });
  }, patience);
});

/** Whether others may read the code, so that another account can run it. */
function isReachable(): boolean {
  for (let path = cliEntry; path !== '/'; path = join(path, '..')) if ((statSync(path).mode & 0o005) === 0) return false;
  return true;
}

describe('signalbox', () => {
  it('explains what is missing where nothing was ever started', async () => {
    const one = installation();
    const run = one.run(['token', 'create', '--role', 'ADMIN']);
    expect(await run.exit).toBe(1);
    expect(run.output).toContain(`There is no installation in ${one.home.path}`);
    expect((await one.stop()).output).toContain('Nothing runs here.');
  });
});
