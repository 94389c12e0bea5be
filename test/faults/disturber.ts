import { setTimeout as pause } from 'node:timers/promises';
import type { TestStack } from '../../apps/cli/src/stack/test-stack.js';
import type { BreakingProxy } from './proxy.js';
import type { Random } from './random.js';
import type { FaultyReceiver } from './receiver.js';

export const victims = { api: 'api-staging', worker: 'worker-staging', temporal: 'temporal', postgres: 'postgres', simulator: 'simulator' } as const;
export type Victim = keyof typeof victims;

export interface DisturberOptions {
  stack: TestStack;
  random: Random;
  toProvider: BreakingProxy;
  toApi: BreakingProxy;
  receiver: FaultyReceiver;
  /** Milliseconds between two disturbances. */
  every: { least: number; most: number };
  told: (what: string) => void;
}

const weights = {
  api: 16, worker: 16, temporal: 8, postgres: 11, simulator: 11, temporalPaused: 7, apiPaused: 5, workerPaused: 7, simulatorPaused: 5,
  providerRefuses: 8, apiRefuses: 4, networkStorm: 14, receiverStorm: 6,
};
type Disturbance = keyof typeof weights;

/** A process that stands still loses its leases while its calls are under way; the provider takes up late what it was sent. */
const standstill = {
  temporalPaused: { victim: 'temporal', most: 6_000 },
  apiPaused: { victim: 'api', most: 9_000 },
  workerPaused: { victim: 'worker', most: 9_000 },
  simulatorPaused: { victim: 'simulator', most: 4_000 },
} as const;

const usualLikelihood = { provider: 0.06, api: 0.03, receiver: 0.04 };

/** Breaks things by a schedule of its own until it is told to stop; then everything runs again. */
export class Disturber {
  readonly counts: Record<string, number> = {};
  /** Kills in one piece: a process that is being restarted is not killed again. */
  readonly #busy = new Set<Victim>();
  readonly #running = new Set<Promise<void>>();
  #stopped = false;

  constructor(private readonly options: DisturberOptions) {}

  /** Kills each process once, in an order of the seed's, then does what the seed chooses until it is enough. */
  async run(isEnough: () => boolean): Promise<void> {
    const { random, every } = this.options;
    this.calm();
    const first = shuffled(Object.keys(victims) as Victim[], random);
    while (!this.#stopped && (first.length > 0 || !isEnough())) {
      await this.sleep(random.between(every.least, every.most));
      if (!this.#stopped) this.begin(first.shift() ?? random.weighted(weights));
    }
    await this.stop();
  }

  /** Ends all disturbances and waits until every process serves again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#running);
    for (const proxy of [this.options.toProvider, this.options.toApi]) proxy.likelihood = 0;
    this.options.receiver.likelihood = 0;
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  private begin(what: Disturbance): void {
    const running = this.perform(what)
      .catch((error: unknown) => this.options.told(`${what}: ${String(error)}`))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  private async perform(what: Disturbance): Promise<void> {
    const { random, toProvider, toApi, receiver } = this.options;
    switch (what) {
      case 'temporalPaused':
      case 'apiPaused':
      case 'workerPaused':
      case 'simulatorPaused':
        return this.pause(standstill[what].victim, random.between(1_000, standstill[what].most));
      case 'providerRefuses':
        return this.refuse(toProvider, what, random.between(300, 3_000));
      case 'apiRefuses':
        return this.refuse(toApi, what, random.between(300, 2_000));
      case 'networkStorm':
        this.count(what);
        toProvider.likelihood = 0.5;
        toApi.likelihood = 0.2;
        await this.sleep(random.between(1_000, 4_000));
        return this.calm();
      case 'receiverStorm':
        this.count(what);
        receiver.likelihood = 0.9;
        await this.sleep(random.between(1_000, 5_000));
        return this.calm();
      default:
        return this.kill(what, random.between(0, 3_000));
    }
  }

  private calm(): void {
    this.options.toProvider.likelihood = usualLikelihood.provider;
    this.options.toApi.likelihood = usualLikelihood.api;
    this.options.receiver.likelihood = usualLikelihood.receiver;
  }

  private async kill(victim: Victim, pauseMs: number): Promise<void> {
    if (this.#busy.has(victim)) return;
    this.#busy.add(victim);
    try {
      const child = this.options.stack.child(victims[victim]);
      this.count(`kill ${victim}`);
      this.options.told(`kill ${victim} (${child.pid}), back in ${pauseMs} ms`);
      await child.kill9();
      await pause(pauseMs);
      await this.bringBack(victim);
    } finally {
      this.#busy.delete(victim);
    }
  }

  /** What another disturbance keeps from starting is started again until it serves. */
  private async bringBack(victim: Victim): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.options.stack.child(victims[victim]).restart();
      } catch (error) {
        if (tries === 10) throw error;
        this.options.told(`${victim} did not start (${String(error).slice(0, 120)}), once more`);
        await pause(500);
      }
    }
  }

  private async pause(victim: Victim, ms: number): Promise<void> {
    if (this.#busy.has(victim)) return;
    this.#busy.add(victim);
    const { pid } = this.options.stack.child(victims[victim]);
    this.count(`${victim} stood still`);
    this.options.told(`${victim} stands still for ${ms} ms`);
    try {
      process.kill(pid, 'SIGSTOP');
      await this.sleep(ms);
    } finally {
      process.kill(pid, 'SIGCONT');
      this.#busy.delete(victim);
    }
  }

  private async refuse(proxy: BreakingProxy, what: string, ms: number): Promise<void> {
    this.count(what);
    await proxy.refuse();
    await this.sleep(ms);
    await proxy.listen();
  }

  private async sleep(ms: number): Promise<void> {
    for (const end = Date.now() + ms; Date.now() < end && !this.#stopped;) await pause(Math.min(100, end - Date.now()));
  }
}

function shuffled<T>(values: T[], random: Random): T[] {
  return values.map((value) => ({ value, at: random.fraction() })).toSorted((one, other) => one.at - other.at).map(({ value }) => value);
}
