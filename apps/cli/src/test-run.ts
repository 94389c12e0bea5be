import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { StopRequest } from './stop-request.js';
import { readJson } from './stack/file.js';
import { removeStacks, stacksBelow } from './stack/test-stack.js';

interface Count {
  passed: number;
  failed: number;
}

interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
}

/** What runs at the moment, in a process group of its own. */
let running: ChildProcess | null = null;
let interrupted = false;

/** What `npm test` runs after install and build; with arguments only the specs whose path they match. Interrupted it leaves nothing running. */
export async function testRun(root: string, paths: string[]): Promise<void> {
  const request = new StopRequest();
  const stopped = request.promise.then(async () => {
    interrupted = true;
    const left = stacksBelow(process.pid);
    process.stderr.write(`· stopping ${left.length} stacks …\n`);
    if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
    await removeStacks(left);
    process.exit(130);
  });
  await Promise.race([runAll(root, paths), stopped]);
  request.dispose();
}

async function runAll(root: string, paths: string[]): Promise<void> {
  const reports = mkdtempSync(join(tmpdir(), 'signalbox-report-'));
  const total: Count = paths.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 0 };
  const add = ({ passed, failed }: Count) => {
    total.passed += passed;
    total.failed += failed;
  };
  try {
    if (paths.length === 0) {
      console.log('✓ types (the build compiles every file, specs included)');
      add(await check(root, 'lint', ['node_modules/eslint/bin/eslint.js', '--config', '.config/eslint.config.mjs', '.']));
      const rooms = ['apps', 'workflows', 'activities', 'libs'];
      add(await check(root, 'import law', ['node_modules/dependency-cruiser/bin/dependency-cruise.mjs', '--config', '.config/dependency-cruiser.cjs', ...rooms]));
    }
    for (const project of ['unit', 'integration']) add(await jest(root, project, { paths, report: join(reports, `${project}.json`) }));
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
  console.log(`${total.passed} passed, ${total.failed} failed`);
}

async function check(root: string, name: string, args: string[]): Promise<Count> {
  const started = performance.now();
  const passed = (await node(root, args)) === 0;
  console.log(`${passed ? '✓' : '✗'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Specs wait for other processes most of their time: four at once even on one core. */
const workers = String(Math.max(4, Math.floor(availableParallelism() / 2)));

async function jest(root: string, project: string, { paths, report }: { paths: string[]; report: string }): Promise<Count> {
  const filter = paths.length === 0 ? [] : ['--passWithNoTests', '--testPathPatterns', ...paths];
  const args = ['--config', '.config/jest.config.mjs', '--selectProjects', project, '--maxWorkers', workers, '--json', '--outputFile', report, ...filter];
  const code = await node(root, ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', ...args]);
  const counted = readJson<JestReport>(report);
  if (counted === null) return { passed: 0, failed: code === 0 && paths.length > 0 ? 0 : 1 };
  const failed = counted.numFailedTests + counted.numRuntimeErrorTestSuites;
  return { passed: counted.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

function node(root: string, args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    running = child;
    const done = (code: number | null): void => {
      running = null;
      if (!interrupted) resolve(code ?? 1);
    };
    child.on('error', () => done(1));
    child.on('close', done);
  });
}
