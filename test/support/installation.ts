import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Home, type Ready } from '../../apps/cli/src/stack/home.js';
import { end, identify, isAlive, startTimeOf } from '../../apps/cli/src/stack/process.js';
import { eventually } from './stack.js';

export const cliEntry = join(resolve(process.env.SIGNALBOX_DIST ?? 'dist'), 'apps/cli/src/main.js');

/** One run of `signalbox …` as a person starts it. */
export class CliRun {
  output = '';
  readonly exit: Promise<number | null>;

  constructor(readonly process: ChildProcess) {
    for (const stream of [process.stdout, process.stderr]) stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.exit = new Promise((done) => process.once('close', (code) => done(code)));
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  user?: { uid: number; gid: number };
  /** Runs it below a shell, as npm does. */
  belowShell?: boolean;
}

/** A folder for one installation and what was started in it. Call `remove` in the end. */
export class Installation {
  readonly home: Home;
  private readonly runs: CliRun[] = [];

  constructor(path = mkdtempSync(join(tmpdir(), 'signalbox-test-cli-'))) {
    this.home = new Home(join(path, 'home'));
    mkdirSync(path, { recursive: true });
  }

  run(args: string[], { env = {}, user, belowShell = false }: RunOptions = {}): CliRun {
    const stopsWithTheTestRun = { npm_lifecycle_event: 'start' };
    const inherited = { ...stopsWithTheTestRun, PATH: process.env.PATH, HOME: process.env.HOME, SIGNALBOX_CACHE: process.env.SIGNALBOX_CACHE };
    const options = { cwd: tmpdir(), env: { ...inherited, SIGNALBOX_HOME: this.home.path, ...env }, ...user };
    const command = [process.execPath, cliEntry, ...args];
    const child = belowShell
      ? spawn('sh', ['-c', `${command.map((part) => `'${part}'`).join(' ')}; exit $?`], options)
      : spawn(command[0]!, command.slice(1), options);
    const run = new CliRun(child);
    this.runs.push(run);
    return run;
  }

  /** Waits until the run has written ready.json; throws its output if it ends before. */
  async ready(run: CliRun): Promise<Ready> {
    let ended = false;
    void run.exit.then(() => (ended = true));
    const first = await eventually(() => this.readyNow() ?? (ended ? 'ended' : null), { timeoutMs: 150_000 });
    if (first === 'ended') throw new Error(`ended with ${await run.exit}:\n${run.output}`);
    return first;
  }

  private readyNow(): Ready | null {
    const ready = this.home.ready();
    return ready !== null && startTimeOf(ready.pid) !== null ? ready : null;
  }

  /** Pids of the processes that this installation has started and not ended. */
  childPids(): number[] {
    return this.home.children().filter(isAlive).map(({ pid }) => pid);
  }

  /** Ends the root and every child at once, as a power cut would. */
  async kill9(): Promise<void> {
    const root = identify(this.home.ready()?.pid ?? 0);
    const children = this.home.children().filter(isAlive);
    if (root !== null) process.kill(root.pid, 'SIGKILL');
    for (const { pid } of children) process.kill(pid, 'SIGKILL');
    await eventually(() => ![...(root === null ? [] : [root]), ...children].some(isAlive));
  }

  async stop(): Promise<CliRun> {
    const stop = this.run(['stop']);
    await stop.exit;
    return stop;
  }

  async remove(): Promise<void> {
    await this.stop();
    for (const { process: child } of this.runs) {
      const identity = child.exitCode === null && child.pid !== undefined ? identify(child.pid) : null;
      if (identity !== null) await end(identity, 'SIGTERM', 30_000);
    }
    const postgres = existsSync(this.home.file('state.json')) ? this.home.state().postgresFolder : undefined;
    rmSync(dirname(this.home.path), { recursive: true, force: true });
    if (postgres !== undefined && !postgres.startsWith(this.home.path)) rmSync(dirname(postgres), { recursive: true, force: true });
  }
}
