import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from './stack/file.js';

interface Count {
  passed: number;
  failed: number;
}

interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
}

/** What `npm test` runs after install and build; with arguments only the specs whose path they match. */
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
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

const [root = process.cwd(), ...paths] = process.argv.slice(2);
await runAll(root, paths);
