import { setTimeout as pause } from 'node:timers/promises';
import type { TestStack } from '../../../apps/cli/src/stack/test-stack.js';
import type { Random } from '../random.js';

/** Beside which step of a delivery a process dies: a change is under way or was just acknowledged; a post has arrived. */
export type Moment = 'asked' | 'acknowledged' | 'posted';

const victims = { api: 'api-staging', worker: 'worker-staging' } as const;
const aims: Record<keyof typeof victims, readonly Moment[]> = { api: ['asked', 'acknowledged'], worker: ['posted', 'posted', 'acknowledged'] };

export interface AimedKillerOptions {
  stack: TestStack;
  random: Random;
  kills: number;
  told: (line: string) => void;
}

/** Ends API and worker with SIGKILL within milliseconds of a commit or a send, and starts them again. */
export class AimedKiller {
  readonly counts: Record<string, number> = {};
  #waiting: { moment: Moment; left: number; reached: () => void } | null = null;

  constructor(private readonly options: AimedKillerOptions) {}

  /** Called by those who see it happen. */
  saw(moment: Moment): void {
    const waiting = this.#waiting;
    if (waiting?.moment !== moment || (waiting.left -= 1) > 0) return;
    this.#waiting = null;
    waiting.reached();
  }

  async run(): Promise<void> {
    const { random, kills, stack, told } = this.options;
    for (let kill = 1; kill <= kills; kill += 1) {
      const victim = kill % 2 === 0 ? 'api' : 'worker';
      const moment = random.pick(aims[victim]);
      await this.next(moment, random.between(1, 25));
      const lateMs = random.between(0, 8);
      if (lateMs > 0) await pause(lateMs);
      await stack.child(victims[victim]).kill9();
      const what = `kill ${victim} beside ${moment}`;
      this.counts[what] = (this.counts[what] ?? 0) + 1;
      if (kill % 10 === 0) told(`${kill} kills`);
      await stack.child(victims[victim]).restart();
    }
  }

  private next(moment: Moment, left: number): Promise<void> {
    return new Promise((reached) => {
      this.#waiting = { moment, left, reached };
    });
  }
}
