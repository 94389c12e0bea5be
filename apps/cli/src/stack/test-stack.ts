import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildAppBundles, buildWorkflowBundle } from '../bundle.js';
import { Home } from './home.js';
import { ownerOf } from './lock.js';
import { end, isAlive, parentOf } from './process.js';
import { environmentNames, startStack, type EnvironmentName, type Stack } from './stack.js';

const prefix = 'signalbox-test-';
/** A spec that kills its own stack's root on purpose is not taken for a dead run. */
const leftAloneMs = 10 * 60_000;

export interface TestStackOptions {
  environments?: readonly EnvironmentName[];
  withoutWorker?: readonly EnvironmentName[];
  /** More variables for API, worker and simulator. */
  extra?: NodeJS.ProcessEnv;
  /** Stops what is being started and removes it. */
  abort?: AbortSignal;
}

export interface TestStack extends Stack {
  /** Stops everything and removes its data. */
  remove(): Promise<void>;
}

/** A whole installation in a temporary folder, not supervised, so that a test may end its processes. */
export async function startTestStack(dist: string, options: TestStackOptions = {}): Promise<TestStack> {
  if (existsSync(join(dist, 'workflows', 'index.js'))) await buildWorkflowBundle(dist);
  await buildAppBundles(dist);
  const path = mkdtempSync(join(tmpdir(), prefix));
  rmSync(path, { recursive: true });
  const lines: string[] = [];
  try {
    const stack = await startStack({
      home: path,
      dist,
      environments: options.environments ?? environmentNames,
      withoutWorker: options.withoutWorker,
      progress: (line) => lines.push(line),
      supervised: false,
      onlyBuilt: true,
      abort: options.abort,
      extra: { SMTP_URL: '', SMTP_FROM: '', LOG_LEVEL: process.env.LOG_LEVEL ?? 'info', RATE_LIMIT_PER_SECOND: '100000', ...options.extra },
      env: process.env.SIGNALBOX_PORT_BASE === undefined ? {} : { SIGNALBOX_PORT_BASE: process.env.SIGNALBOX_PORT_BASE },
    });
    return {
      ...stack,
      remove: async () => {
        await stack.stop();
        keepLogs(stack.home);
        discard(stack.home);
      },
    };
  } catch (error) {
    if (options.abort?.aborted) discard(new Home(path));
    throw new Error(`${(error as Error).message}\n${lines.join('\n')}`, { cause: error });
  }
}

/** Ends and removes the stacks of test runs that were killed. */
export async function sweepLeftovers(): Promise<void> {
  for (const home of testHomes()) {
    const touched = statSync(home.file('state.json'), { throwIfNoEntry: false })?.mtimeMs;
    const owner = touched === undefined ? null : ownerOf(home.file('lock'));
    if (owner === null || isAlive(owner) || Date.now() - (touched ?? 0) < leftAloneMs) continue;
    await home.endSurvivors();
    discard(home);
  }
}

function testHomes(): Home[] {
  const folders = readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix)).map((entry) => join(tmpdir(), entry));
  return folders.flatMap((path) => [path, join(path, 'home')]).map((folder) => new Home(folder));
}

/** The stacks that a process, or one that it started, holds at the moment. */
export function stacksBelow(pid: number): Home[] {
  const isBelow = (one: number | null): boolean => one !== null && one > 1 && (one === pid || isBelow(parentOf(one)));
  return testHomes().filter((home) => isBelow(ownerOf(home.file('lock'))?.pid ?? null));
}

/** Ends and removes the stacks of a run that was interrupted. */
export async function removeStacks(homes: Home[]): Promise<void> {
  await Promise.all(homes.map(async (home) => {
    const owner = ownerOf(home.file('lock'));
    if (owner !== null) await end(owner, 'SIGKILL', 10_000);
    await home.endSurvivors(2_000);
    discard(home);
  }));
}

function discard(home: Home): void {
  const folder = home.state().postgresFolder;
  rmSync(home.path, { recursive: true, force: true });
  if (folder !== undefined && !folder.startsWith(home.path)) rmSync(dirname(folder), { recursive: true, force: true });
}

/** `SIGNALBOX_TEST_LOGS=<folder>` keeps the processes' logs after a run. */
function keepLogs(home: Home): void {
  const target = process.env.SIGNALBOX_TEST_LOGS;
  if (target === undefined) return;
  for (const name of readdirSync(home.file('logs'))) cpSync(home.file('logs', name), join(target, name));
}
