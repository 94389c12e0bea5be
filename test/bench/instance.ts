import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startTestStack, type TestStack, type TestStackOptions } from '../../apps/cli/src/stack/test-stack.js';

const dist = fileURLToPath(new URL('../..', import.meta.url));
const interruption = new AbortController();
let instance: Promise<TestStack> | null = null;

/** An installation for `work` alone; it is stopped and removed at the end, also where the run is interrupted. */
export async function withInstance(options: TestStackOptions, work: (stack: TestStack) => Promise<void>): Promise<void> {
  const { signal } = interruption;
  instance = startTestStack(dist, { ...options, abort: signal });
  try {
    await work(await instance);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    if (signal.aborted) await new Promise(() => undefined);
    await instance.then((stack) => stack.remove(), () => undefined);
    instance = null;
  }
}

/** On SIGTERM and SIGINT: stops what was started and leaves. A second signal leaves at once. */
export function stopWhenInterrupted(): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      const code = 128 + constants.signals[signal];
      if (interruption.signal.aborted) process.exit(code);
      process.stdout.write('\ninterrupted: stopping what was started\n');
      interruption.abort();
      const stopped = instance?.then((stack) => stack.remove(), () => undefined) ?? Promise.resolve();
      void stopped.finally(() => process.exit(code));
    });
  }
}
