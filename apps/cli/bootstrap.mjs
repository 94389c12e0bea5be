// First step of every npm script: installs and builds what is missing, then hands over to the compiled code. Node built-ins only.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const dist = join(root, 'dist');
const stamp = join(dist, '.sources');
const setupLock = join(dist, '.setup.lock');
const sourceFolders = ['apps', 'workflows', 'activities', 'libs', 'test'];

class SetupFailed extends Error {}

async function main([command = 'start', ...rest]) {
  if (Number(process.versions.node.split('.')[0]) < 20) throw new SetupFailed(`Node 20 or newer is needed, this is ${process.version}`);
  await prepare();
  if (command === 'build') return;
  if (command === 'test') return (await import(pathToFileURL(join(dist, 'apps/cli/src/test-run.js')).href)).testRun(root, rest);
  if (command === 'bench') return hand('test/bench/main.js', rest);
  if (command === 'faults') return hand('test/faults/main.js', rest);
  const { run } = await import(pathToFileURL(join(dist, 'apps/cli/src/main.js')).href);
  await run(command === 'cli' ? rest : [command, ...rest]);
}

/** Brings node_modules and dist up to date; another process that does the same is waited for. */
async function prepare() {
  if (isInstalled() && isCompiled()) return;
  const release = await lockSetup();
  try {
    if (!isInstalled()) await step('installing packages', npm(['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']));
    if (!isCompiled()) await compile();
  } finally {
    release();
  }
}

/** npm's own record of what it installed says the same as the lock file. Packages for other platforms are optional. */
function isInstalled() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === null || installed === null) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true;
    const found = installed[path];
    return found === undefined ? optional === true : found.version === version && found.integrity === integrity;
  });
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return null;
  }
}

function npm(args) {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js') ? [process.execPath, [script, ...args]] : ['npm', args];
}

function isCompiled() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceDigest();
}

async function compile() {
  const digest = sourceDigest();
  rmSync(stamp, { force: true });
  await step('compiling TypeScript', [process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.json')]]);
  if (existsSync(join(dist, 'workflows/index.js'))) {
    await step('bundling workflows and apps', [process.execPath, [join(dist, 'apps/cli/src/main.js'), 'bundle', dist]]);
  }
  writeFileSync(`${stamp}.new`, digest);
  renameSync(`${stamp}.new`, stamp);
}

function sourceDigest() {
  const hash = createHash('sha256').update(process.version);
  const files = sourceFolders.flatMap((folder) => filesOf(join(root, folder))).sort();
  for (const file of [...files, join(root, 'tsconfig.json'), join(root, 'package-lock.json')]) hash.update(file).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

function filesOf(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesOf(path);
    return /\.(ts|json)$/.test(entry.name) ? [path] : [];
  });
}

/** Runs a program, silent unless it fails, with one line of progress. Told to stop, it stops the program first. */
async function step(title, [command, args]) {
  const started = performance.now();
  process.stderr.write(`· ${title} …`);
  const { code, output } = await runQuietly(command, args);
  if (code !== 0) {
    process.stderr.write('\n');
    throw new SetupFailed(`${title} failed:\n${output.trim()}`);
  }
  process.stderr.write(` ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

function runQuietly(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) writeFileSync(setupLock, `${process.pid} ${child.pid}`);
    const pass = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    signals.forEach((signal) => process.on(signal, pass));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const done = (result) => {
      signals.forEach((signal) => process.off(signal, pass));
      resolve(result);
    };
    child.on('error', (error) => done({ code: 1, output: error.message }));
    child.on('close', (code, signal) => done({ code: code ?? 1, output: signal === null ? output : `${output}\nstopped by ${signal}` }));
  });
}

/** One set-up at a time in this folder. The lock counts while its owner, or the program that its owner ran, is alive. */
async function lockSetup() {
  mkdirSync(dist, { recursive: true });
  for (let told = false; ; told = true) {
    try {
      writeFileSync(setupLock, String(process.pid), { flag: 'wx' });
      return () => rmSync(setupLock, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owners = lockOwners();
    if (owners.length > 0 && !owners.some(isSettingUp)) rmSync(setupLock, { force: true });
    else if (!told) process.stderr.write(`· waiting for process ${owners[0] ?? '?'} that sets up this folder …\n`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function lockOwners() {
  try {
    return readFileSync(setupLock, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

/** The number may belong to a stranger by now: only a command line of a set-up counts. */
function isSettingUp(pid) {
  try {
    const line = process.platform === 'linux' ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return /bootstrap\.mjs|npm|tsc|bundle/.test(line);
  } catch {
    return false;
  }
}

function hand(program, args) {
  const child = spawn(process.execPath, [join(dist, program), ...args], { cwd: root, stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGINT', () => undefined);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      process.exitCode = code ?? 1;
      resolve();
    });
  });
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error instanceof SetupFailed ? error.message : error.stack}\n`);
  if (process.argv[2] === 'test') process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
});
