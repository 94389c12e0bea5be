import type { Composition } from '../activities.js';

export interface Periodic {
  everyMs: number;
  /** What the log says when the work fails, once per outage. */
  trouble: string;
  /** One round; `isStopped` tells a long one to end early. */
  round(isStopped: () => boolean): Promise<void>;
}

/** Runs rounds one after the other, also after failures. The result stops them and waits for the running one. */
export function startPeriodic({ everyMs, trouble, round }: Periodic, log: Composition['log']): () => Promise<void> {
  let stopped = false;
  let healthy = true;
  let running: Promise<void> = Promise.resolve();

  const attempt = async (): Promise<void> => {
    try {
      await round(() => stopped);
      healthy = true;
    } catch (err) {
      if (healthy) log.warn({ err }, trouble);
      healthy = false;
    }
    if (!stopped) timer = setTimeout(tick, everyMs);
  };
  const tick = (): void => {
    running = attempt();
  };
  let timer = setTimeout(tick, everyMs);

  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
