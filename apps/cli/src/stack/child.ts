import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import type { Home } from './home.js';
import { end, identify, isAlive, signal, waitUntil, type ProcessIdentity } from './process.js';

export interface ChildSpec {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  user?: { uid: number; gid: number };
  /** Asks the process to stop in good order. */
  stopSignal?: NodeJS.Signals;
  /** How long it may take for that before it is killed. */
  stopGraceMs?: number;
  /** What must be true before the process may start. */
  beforeStart?: () => Promise<void>;
  /** Resolves to true as soon as the process serves. */
  answers: () => Promise<boolean>;
  startTimeoutMs?: number;
}

const largestLogBytes = 20_000_000;
const longestPauseMs = 10_000;
const steadyMs = 30_000;

/**
 * One process of the stack. It leads a group of its own, so that Ctrl-C in the terminal reaches only the root, and writes
 * into a file, so that it outlives the root without a broken pipe. Supervised, it is started again when it ends by itself.
 */
export class Child {
  private identity: ProcessIdentity | null = null;
  private process: ChildProcess | null = null;
  private wanted = false;
  private serving = false;
  private servingSince = 0;
  private failures = 0;
  private exit: string | null = null;
  onRestart: ((name: string, why: string) => void) | null = null;

  constructor(
    readonly spec: ChildSpec,
    private readonly home: Home,
    private readonly supervised: boolean,
  ) {}

  get name(): string {
    return this.spec.name;
  }

  get pid(): number {
    if (this.identity === null) throw new Error(`${this.name} is not running`);
    return this.identity.pid;
  }

  get logFile(): string {
    return this.home.file('logs', `${this.name}.log`);
  }

  isRunning(): boolean {
    return this.identity !== null && isAlive(this.identity);
  }

  /** Starts the process and waits until it answers. Throws with the end of its log if it ends or stays silent. */
  async start(): Promise<void> {
    this.wanted = true;
    await this.spec.beforeStart?.();
    if (!this.wanted) throw new StartError(this.name, 'told to stop', this.logFile);
    this.launch();
    await this.untilAnswering();
    this.serving = true;
    this.servingSince = performance.now();
  }

  /** Stops in good order; what does not stop in time is killed. */
  async stop(): Promise<void> {
    this.wanted = false;
    if (this.identity === null) return;
    await end(this.identity, this.spec.stopSignal ?? 'SIGTERM', this.spec.stopGraceMs ?? 30_000);
    this.identity = null;
    this.home.forget(this.name);
  }

  /** Ends the process at once, as a power cut would; it stays down until `restart`. */
  async kill9(): Promise<void> {
    this.wanted = false;
    if (this.identity === null) return;
    const identity = this.identity;
    signal(identity, 'SIGKILL');
    await waitUntil(() => !isAlive(identity), 10_000);
    this.identity = null;
    this.home.forget(this.name);
  }

  async restart(): Promise<void> {
    if (this.isRunning()) await this.stop();
    await this.start();
  }

  private launch(): void {
    const log = this.openLog();
    let process: ChildProcess;
    try {
      process = spawn(this.spec.command, this.spec.args, {
        cwd: this.spec.cwd,
        env: this.spec.env,
        detached: true,
        stdio: ['ignore', log, log],
        ...this.spec.user,
      });
    } finally {
      closeSync(log);
    }
    this.exit = null;
    this.process = process;
    process.once('error', (error) => (this.exit = error.message));
    process.once('exit', (code, name) => this.ended(process, code === null ? `ended by ${name}` : `exit code ${code}`));
    if (process.pid === undefined) return;
    this.identity = identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
    this.home.remember({ name: this.name, ...this.identity });
    process.unref();
  }

  private openLog(): number {
    try {
      if (statSync(this.logFile).size > largestLogBytes) renameSync(this.logFile, `${this.logFile}.1`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return openSync(this.logFile, 'a', 0o600);
  }

  private ended(process: ChildProcess, why: string): void {
    if (this.process !== process) return;
    this.exit = why;
    if (!this.wanted || !this.supervised || !this.serving) return;
    if (performance.now() - this.servingSince > steadyMs) this.failures = 0;
    const pause = Math.min(longestPauseMs, 500 * 2 ** this.failures);
    this.failures += 1;
    this.onRestart?.(this.name, why);
    setTimeout(() => {
      if (this.wanted) this.start().catch(() => undefined);
    }, pause).unref();
  }

  private async untilAnswering(): Promise<void> {
    const timeout = this.spec.startTimeoutMs ?? 60_000;
    const answered = await waitUntil(async () => this.exit !== null || (await this.spec.answers().catch(() => false)), timeout, 50);
    if (answered && this.exit === null) return;
    throw new StartError(this.name, this.exit ?? `no answer within ${timeout / 1000} s`, this.logFile);
  }
}

/** A part of the stack did not come up. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(
    readonly part: string,
    readonly why: string,
    readonly logFile: string,
  ) {
    super(`${part} did not start: ${why}. Its log: ${logFile}`);
  }
}
