import { systemChange } from '../libs/db/account.writes.js';
import { transact } from '../libs/db/change.js';
import type { Db } from '../libs/db/client.js';
import { announceExhausted, recordAttempts, recordDelivered, type ScheduledAttempt, type Streak } from '../libs/db/delivery.writes.js';
import type { DrainHold } from '../libs/db/drain.writes.js';
import { lockEndpoint } from '../libs/db/webhook-endpoint.queries.js';
import { disableEndpoint, recoverEndpoint } from '../libs/db/webhook-endpoint-status.writes.js';
import type { Environment } from '../libs/domain/environment.js';

const longestWaitMs = 50;
const largestBatch = 200;
const gone = 410;

export interface RecorderOptions {
  db: Db;
  environment: Environment;
  accountId: string;
  hold: DrainHold;
  /** An endpoint that did nothing but fail for this long is disabled. */
  disableAfterMs: number;
}

export type EndedAttempt = ScheduledAttempt & { eventType: string };

/** Another drain has taken the endpoint: what this one did is not recorded, and will be done again. */
export class FencedOff extends Error {
  override readonly name = 'FencedOff';
}

/**
 * Writes attempts in batches: the first of a batch waits for at most 50 ms, or for the batch before it. A failure to write
 * ends the drain; what was not written is posted again by the next one.
 */
export class Recorder {
  private batch: EndedAttempt[] = [];
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> | null = null;
  private failure: unknown = null;
  private last: Streak | null = null;

  constructor(
    private readonly options: RecorderOptions,
    private readonly onRecorded: (deliveryIds: string[]) => void,
  ) {}

  /** The endpoint's streak of failures as last recorded. */
  get streak(): Streak | null {
    return this.last;
  }

  add(attempt: EndedAttempt): void {
    this.batch.push(attempt);
    if (this.batch.length >= largestBatch) this.start();
    else this.timer ??= setTimeout(() => this.start(), longestWaitMs);
  }

  /** Throws what went wrong in the background. */
  check(): void {
    if (this.failure) throw this.failure;
  }

  /** Everything that was added is written when this resolves. */
  async flush(): Promise<void> {
    while (this.writing || this.batch.length > 0) {
      this.check();
      this.start();
      await this.writing;
    }
    this.check();
  }

  private start(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.writing || this.failure || this.batch.length === 0) return;
    const attempts = this.batch;
    this.batch = [];
    this.writing = this.write(attempts)
      .catch((error: unknown) => { this.failure = error; })
      .finally(() => {
        this.writing = null;
        if (this.batch.length > 0) this.timer ??= setTimeout(() => this.start(), 0);
      });
  }

  private async write(attempts: EndedAttempt[]): Promise<void> {
    const { db, hold } = this.options;
    const succeeded = attempts.every(({ next, silenceMs }) => next.status === 'delivered' && silenceMs === 0);
    this.last = (succeeded ? await recordDelivered(db, hold, attempts) : undefined) ?? (await this.writeWithConsequences(attempts));
    this.onRecorded(attempts.map((attempt) => attempt.deliveryId));
  }

  private async writeWithConsequences(attempts: EndedAttempt[]): Promise<Streak> {
    const { db, environment, accountId, hold } = this.options;
    const change = systemChange(environment, accountId);
    return transact(db, change, async (tx) => {
      const streak = await recordAttempts(tx, hold, attempts);
      if (!streak) throw new FencedOff();
      await announceExhausted(tx, change, attempts.filter(({ next }) => next.status === 'exhausted'));
      const reason = this.reasonToDisable(attempts, streak);
      const recovers = streak.toldFailing && attempts.some(({ next }) => next.status === 'delivered');
      const endpoint = reason || recovers ? await lockEndpoint(tx, accountId, hold.endpointId) : undefined;
      if (endpoint && recovers) await recoverEndpoint(tx, change, endpoint);
      if (endpoint && reason) await disableEndpoint(tx, change, endpoint, reason);
      return streak;
    });
  }

  private reasonToDisable(attempts: EndedAttempt[], { failingSince }: Streak): 'gone' | 'failing' | null {
    if (attempts.some((attempt) => attempt.responseStatus === gone)) return 'gone';
    return failingSince !== null && Date.now() - failingSince.getTime() >= this.options.disableAfterMs ? 'failing' : null;
  }
}
