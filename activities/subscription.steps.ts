import type { MoveArgs, StepArgs, Stepped } from '../libs/contracts/subscription.contract.js';
import type { StepResult } from '../libs/db/subscription-step.writes.js';

/** After a long downtime the worker lets others have their turn. */
const mostSteps = 20;

/**
 * Step after step until nothing is due, or a payment has begun that decides what follows. Each step finds out by itself whether it
 * already ran, so a second run goes on where the rows stand.
 */
export async function stepsFrom({ charging, ...args }: MoveArgs, step: (args: StepArgs) => Promise<StepResult>): Promise<Stepped> {
  const advance: string[] = [];
  let last = charging;
  let begins = false;
  for (let steps = 0; ; steps += 1) {
    const { run, acted, rests = false, advance: wanted } = await step(args);
    const intentId = run.charging?.intentId ?? null;
    begins = intentId !== null && (begins || intentId !== last);
    last = intentId;
    advance.push(...wanted);
    const waits = intentId !== null && !isDue(run.nextActionAt, args.now);
    if (!acted || rests || waits) return { run, advance, acted: acted || steps > 0, more: false, begins };
    if (steps + 1 === mostSteps) return { run, advance, acted, more: true, begins };
  }
}

function isDue(at: string | null, now: string): boolean {
  return at !== null && at <= now;
}
