import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, constants, setPriority, tmpdir } from 'node:os';
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

/** What runs at the moment, each in a process group of its own. */
const running = new Set<ChildProcess>();
let interrupted = false;

/** What `npm test` runs after install and build; with arguments only the specs whose path they match. Interrupted it leaves nothing running. */
export async function testRun(root: string, paths: string[]): Promise<void> {
  const request = new StopRequest();
  const stopped = request.promise.then(async () => {
    interrupted = true;
    const left = stacksBelow(process.pid);
    process.stderr.write(`· stopping ${left.length} stacks …\n`);
    for (const { pid } of running) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
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
  const project = async (name: 'unit' | 'integration'): Promise<void> => add(await jest(root, name, { paths, report: join(reports, `${name}.json`) }));
  /** What needs no stack takes the time in which the integration specs wait. */
  const beside = async (): Promise<void> => {
    if (paths.length === 0) {
      console.log('✓ types (the build compiles every file, specs included)');
      add(await check(root, 'lint', ['node_modules/eslint/bin/eslint.js', '--config', '.config/eslint.config.mjs', '.']));
      const rooms = ['apps', 'workflows', 'activities', 'libs'];
      add(await check(root, 'import law', ['node_modules/dependency-cruiser/bin/dependency-cruise.mjs', '--config', '.config/dependency-cruiser.cjs', ...rooms]));
    }
    await project('unit');
  };
  try {
    await Promise.all([project('integration'), beside()]);
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
  console.log(`${total.passed} passed, ${total.failed} failed`);
}

async function check(root: string, name: string, args: string[]): Promise<Count> {
  const started = performance.now();
  const passed = (await node(root, args, { beside: true })) === 0;
  console.log(`${passed ? '✓' : '✗'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Specs wait for other processes most of their time: four at once even on one core. */
const workers = String(Math.max(4, Math.floor(availableParallelism() / 2)));

async function jest(root: string, project: 'unit' | 'integration', { paths, report }: { paths: string[]; report: string }): Promise<Count> {
  const filter = paths.length === 0 ? [] : ['--passWithNoTests', '--testPathPatterns', ...paths];
  const args = ['--config', '.config/jest.config.mjs', '--selectProjects', project, '--maxWorkers', workers, '--json', '--outputFile', report, ...filter];
  const code = await node(root, ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', ...args], { beside: project === 'unit' });
  const counted = readJson<JestReport>(report);
  if (counted === null) return { passed: 0, failed: code === 0 && paths.length > 0 ? 0 : 1 };
  const failed = counted.numFailedTests + counted.numRuntimeErrorTestSuites;
  return { passed: counted.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

/** `beside`: it gives way to everything else, and what it says is told in one piece when it ends. */
function node(root: string, args: string[], { beside }: { beside: boolean }): Promise<number> {
  return new Promise((resolve) => {
    const output = beside ? 'pipe' : 'inherit';
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', output, output], detached: true });
    running.add(child);
    if (beside) lower(child);
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk));
    const done = (code: number | null): void => {
      running.delete(child);
      process.stdout.write(Buffer.concat(said));
      if (!interrupted) resolve(code ?? 1);
    };
    child.on('error', () => done(1));
    child.on('close', done);
  });
}

function lower({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // it has ended already, or this system has no priorities
  }
}
