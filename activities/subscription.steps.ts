import type { AdvancedPayment, MoveArgs, ProceedArgs, Proceeded, StepArgs, Stepped } from '../libs/contracts/subscription.contract.js';
import type { StepResult } from '../libs/db/subscription-step.writes.js';

/** After a long downtime the worker lets others have their turn. */
const mostSteps = 20;

/** So long the workflow's task waits for a processor, and with it whoever calls the workflow. */
const briefMs = 1_000;

export interface Proceeding {
  step: (args: StepArgs) => Promise<StepResult>;
  /** Moves the payment as far as it goes. */
  isFinal: (intentId: string) => Promise<boolean>;
  startOf: (intentId: string) => Promise<AdvancedPayment['start']>;
  /** The workflow's time, going on. RFC 3339. */
  clock: () => string;
}

/** The steps, the payment that they begin, and the steps that its outcome brings about. Safe to run twice, as its parts are. */
export async function proceedFrom({ intentId: wanted, ...args }: ProceedArgs, { step, isFinal, startOf, clock }: Proceeding): Promise<Proceeded> {
  const first = wanted === null ? await stepsFrom(args, step) : null;
  const intentId = first ? ((first.begins && first.run.charging?.intentId) || null) : wanted;
  if (!intentId || first?.more) return { stepped: first, payment: null };
  const final = await briefly(isFinal(intentId));
  if (final === 'slow') return { stepped: first, payment: { intentId, state: 'slow' } };
  // What is not known here the workflow finds out by itself.
  const then = await stepsFrom({ ...args, charging: intentId, now: clock() }, step).catch(() => null);
  const stepped = then && first ? { ...then, acted: true, advance: [...first.advance, ...then.advance] } : then;
  return { stepped, payment: final ? { intentId, state: 'final' } : { intentId, state: 'waiting', start: await startOf(intentId) } };
}

async function briefly(final: Promise<boolean>): Promise<boolean | 'slow'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'slow'>((resolve) => (timer = setTimeout(() => resolve('slow'), briefMs)));
  try {
    return await Promise.race([final, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whoever asks for what is under way gets the same answer. */
export function sharedByKey<T>(ask: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key) => {
    const known = running.get(key);
    if (known) return known;
    const asked = ask(key).finally(() => running.delete(key));
    asked.catch(() => undefined);
    running.set(key, asked);
    return asked;
  };
}

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
