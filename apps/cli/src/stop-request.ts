import { commandLineOf, parentOf } from './stack/process.js';

const watchEveryMs = 500;

/**
 * Becomes true once: by Ctrl-C, SIGTERM, a closed terminal, or when npm, which passes no SIGTERM on, is gone. A second
 * Ctrl-C ends this process at once; the next start then ends what was left.
 */
export class StopRequest {
  private readonly controller = new AbortController();
  private readonly watch: NodeJS.Timeout;
  readonly promise: Promise<void>;

  constructor() {
    this.promise = new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, this.ask);
    process.on('uncaughtException', this.failed);
    const ancestors = ancestorsOfThisRun();
    this.watch = setInterval(() => {
      if (ancestors.some(([child, parent]) => parentOf(child) !== parent)) this.controller.abort();
    }, watchEveryMs);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get made(): boolean {
    return this.signal.aborted;
  }

  dispose(): void {
    clearInterval(this.watch);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, this.ask);
    process.off('uncaughtException', this.failed);
  }

  private readonly ask = (name: NodeJS.Signals): void => {
    if (this.made && name === 'SIGINT') process.exit(130);
    this.controller.abort();
  };

  /** Even then everything is stopped in order. */
  private readonly failed = (error: Error): void => {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exitCode = 1;
    this.controller.abort();
  };
}

/** Pairs of process and parent that hold while npm runs us: npm, perhaps its shell, this process. Started otherwise: none. */
function ancestorsOfThisRun(): [number, number][] {
  if (process.env.npm_lifecycle_event === undefined) return [];
  const parent = process.ppid;
  const above = /^\S*sh -c /.test(commandLineOf(parent) ?? '') ? parentOf(parent) : null;
  return above === null ? [[process.pid, parent]] : [[process.pid, parent], [parent, above]];
}
