import { Broken, NotOffered, type Check } from './check.js';
import { callbackChecks, Mailbox } from './callback-checks.js';
import { operationChecks } from './operation-checks.js';
import { paymentChecks } from './payment-checks.js';
import { readingChecks } from './reading-checks.js';
import { signatureChecks } from './signature-checks.js';
import { Trial } from './trial.js';

export interface ConformanceOptions {
  /** Base address of the provider's sandbox. */
  url: string;
  secret: string;
  /** Where to receive callbacks, on 127.0.0.1; 0: any free port; null: they are not checked. */
  callbackPort: number | null;
  print: (line: string) => void;
}

export interface Result {
  name: string;
  verdict: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  detail: string | null;
}

const longestName = 31;

/**
 * Tries every promise of the contract against a provider, one after the other, and prints each verdict. Makes payments there. Stops where
 * the first one fails: without an answer to believe nothing else can be tried.
 */
export async function runConformance({ url, secret, callbackPort, print }: ConformanceOptions): Promise<Result[]> {
  const mailbox = callbackPort === null ? null : await Mailbox.open(callbackPort);
  const trial = new Trial({ url, secret, callbackUrl: mailbox?.url ?? null });
  try {
    const results: Result[] = [];
    for (const check of [...signatureChecks, ...paymentChecks, ...operationChecks, ...readingChecks, ...callbackChecks(mailbox)]) {
      const result = await tried(check, trial);
      print(lineOf(check, result));
      results.push(result);
      if (results[0]?.verdict === 'failed') break;
    }
    return results;
  } finally {
    await trial.close();
    await mailbox?.close();
  }
}

async function tried(check: Check, trial: Trial): Promise<Result> {
  try {
    await check.run(trial);
    return { name: check.name, verdict: 'passed', detail: null };
  } catch (error) {
    if (error instanceof NotOffered) return { name: check.name, verdict: 'skipped', detail: error.message };
    return { name: check.name, verdict: 'failed', detail: error instanceof Broken ? error.message : `answered what could not be read: ${String(error)}` };
  }
}

function lineOf(check: Check, { verdict, detail }: Result): string {
  const mark = { passed: 'pass', failed: 'FAIL', skipped: 'skip' }[verdict];
  const promise = `${mark}  ${check.name.padEnd(longestName)} ${check.promise}`;
  return detail === null ? promise : `${promise}\n      ${' '.repeat(longestName)} ${detail}`;
}
