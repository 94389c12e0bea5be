import type { DrainOutcome } from '../libs/contracts/webhook-endpoint.contract.js';
import type { Db } from '../libs/db/client.js';
import type { DueDelivery } from '../libs/db/delivery.queries.js';
import { cancelPendingDeliveries, type ScheduledAttempt } from '../libs/db/delivery.writes.js';
import { beginDrain, endDrain, leaveDrain, releasePutOff, renewDrain, type DrainedEndpoint, type DrainHold } from '../libs/db/drain.writes.js';
import type { SecretBox } from '../libs/db/secret.js';
import type { Environment } from '../libs/domain/environment.js';
import { failuresToSlowDown } from '../libs/domain/webhook/waiting.js';
import { publicId } from '../libs/views/ids.js';
import { deliver, outcomeOf, type Delivered } from '../libs/webhooks/deliver.js';
import type { Poster } from '../libs/webhooks/poster.js';
import { askedSilenceMs, nextAttemptDelay } from '../libs/webhooks/schedule.js';
import { Linger } from './webhook-endpoint.linger.js';
import { Pace, pause } from './webhook-endpoint.pace.js';
import { Pages } from './webhook-endpoint.pages.js';
import { FencedOff, Recorder } from './webhook-endpoint.recorder.js';
import { Window } from './webhook-endpoint.window.js';

export interface DrainDeps {
  db: Db;
  environment: Environment;
  secrets: SecretBox;
  poster: Poster;
  /** Seconds before each attempt. */
  schedule: readonly number[];
  disableAfterMs: number;
  /** Aborted when the process is told to stop: no new row is taken, posts under way get `graceMs`. */
  stopping: AbortSignal;
  graceMs?: number;
}

export interface DrainRequest {
  endpointId: string;
  /** Sent to the queue for failing endpoints. */
  failing: boolean;
  /** Within a workflow task, which it must not hold for long: rows are taken for a second only, and a drain of its own goes on. */
  brief?: boolean;
  /** Whether the process has room to wait a moment for more work. */
  mayLinger: () => boolean;
  /** Aborted when Temporal gives up on this drain. */
  cancelled: AbortSignal;
}

const mostAtOnce = 10;
const takesRowsForMs = 10_000;
const briefTakesRowsForMs = 1_000;
/** A brief drain that still finds rows after this serves an endpoint that is likely to have more. */
const steadyAfterMs = 500;
/** A drain that mostly waits for its rate gives its slot to others after this, where they need it. */
const givesWayAfterMs = 1_000;
const lookBesidePostsMs = 100;
const defaultGraceMs = 5_000;

/**
 * Posts what is due at one endpoint until nothing is, or 10 s have passed. Run twice at once, only the later one records;
 * after a crash what was not recorded is posted again.
 */
export async function drainEndpoint(deps: DrainDeps, request: DrainRequest): Promise<DrainOutcome> {
  const endpoint = await beginDrain(deps.db, request.endpointId);
  if (!endpoint) return { state: 'closed', failing: false, dueInMs: null };
  const drain = new Drain(deps, request, endpoint);
  try {
    return await drain.run();
  } catch (error) {
    if (error instanceof FencedOff) return { state: 'open', failing: request.failing, dueInMs: null };
    throw error;
  }
}

class Drain {
  private readonly hold: DrainHold;
  private readonly held = new Set<string>();
  private readonly underWay = new Window();
  private readonly abortPosts = new AbortController();
  private readonly startedAt = performance.now();
  private readonly pace = new Pace();
  private readonly linger: Linger;
  /** As they ended, before they are recorded: a receiver that fails at once must not use up a page of attempts. */
  private failedInARow = 0;
  private retriesSoon = false;
  private askedSilenceMs = 0;
  private readonly recorder: Recorder;
  private readonly pages: Pages;

  constructor(
    private readonly deps: DrainDeps,
    private readonly request: DrainRequest,
    endpoint: DrainedEndpoint,
  ) {
    const { db, environment, secrets, disableAfterMs } = deps;
    this.hold = { endpointId: endpoint.id, epoch: endpoint.epoch };
    const { hold, held, pace } = this;
    this.recorder = new Recorder({ db, environment, accountId: endpoint.accountId, hold, disableAfterMs }, (ids) => ids.forEach((id) => held.delete(id)));
    this.pages = new Pages(
      { db, environment, secrets, hold, failing: request.failing, recorder: this.recorder, pace, held, looks: () => this.linger.looks() },
      endpoint,
    );
    this.linger = new Linger({
      stopping: deps.stopping,
      goesOn: () => this.takesRows(),
      isBusy: () => this.held.size > 0,
      comesUnannounced: () => this.retriesSoon || this.pages.endpoint.ordered,
      mayLinger: () => !request.failing && request.mayLinger(),
    });
  }

  async run(): Promise<DrainOutcome> {
    const abort = (): void => this.abortPosts.abort();
    const stopSoon = (): void => { setTimeout(abort, this.deps.graceMs ?? defaultGraceMs).unref(); };
    this.request.cancelled.addEventListener('abort', abort, { once: true });
    this.deps.stopping.addEventListener('abort', stopSoon, { once: true });
    try {
      if (this.pages.admits(this.pages.endpoint)) await this.pump();
      await this.underWay.below(1);
      await this.recorder.flush();
    } finally {
      this.request.cancelled.removeEventListener('abort', abort);
      this.deps.stopping.removeEventListener('abort', stopSoon);
      this.abortPosts.abort();
      await Promise.all([this.underWay.settled(), this.pages.settled()]);
    }
    return this.finish();
  }

  /** Pages of due rows into a window of posts, until there is a reason to stop. */
  private async pump(): Promise<void> {
    while (this.takesRows()) {
      const page = await this.pages.next();
      if (!page) return;
      await this.beginAll(page);
      if (this.wrongQueue()) return;
      if (page.length > 0 && this.request.failing) await this.settle();
      else if (page.length === 0 && this.held.size > 0 && this.linger.isDeaf) await this.somePost();
      else if (page.length < this.pages.limit && !(await this.linger.again(page.length > 0))) return;
    }
  }

  /** What one post that ends makes possible is seen by the next look. */
  private async somePost(): Promise<void> {
    if (this.underWay.size > 0) await Promise.race([this.underWay.change(), pause(lookBesidePostsMs, this.deps.stopping)]);
    else await this.recorder.flush();
  }

  private async beginAll(page: DueDelivery[]): Promise<void> {
    for (const [index, delivery] of page.entries()) {
      const most = Math.min(mostAtOnce, this.pages.endpoint.maxInFlight ?? mostAtOnce);
      if (this.underWay.size >= most) await this.underWay.below(most);
      const turnInMs = this.pace.next();
      if (turnInMs > 0) await pause(turnInMs, this.deps.stopping);
      if (!this.takesRows() || this.wrongQueue() || this.pages.hasChanged) {
        for (const left of page.slice(index)) this.held.delete(left.id);
        return;
      }
      this.begin(delivery);
    }
  }

  private takesRows(): boolean {
    this.recorder.check();
    const ms = performance.now() - this.startedAt;
    const { brief, cancelled, mayLinger } = this.request;
    const hasTime = ms < (brief ? briefTakesRowsForMs : takesRowsForMs);
    const givesWay = ms >= givesWayAfterMs && this.pages.endpoint.ratePerSecond !== null && !mayLinger();
    return !this.deps.stopping.aborted && !cancelled.aborted && hasTime && !givesWay && this.askedSilenceMs === 0;
  }

  /** A failing endpoint is left to the queue where it cannot hold up others. */
  private wrongQueue(): boolean {
    return !this.request.failing && (this.failedInARow >= failuresToSlowDown || this.pages.isFailing);
  }

  private async settle(): Promise<void> {
    await this.underWay.below(1);
    await this.recorder.flush();
  }

  private begin(delivery: DueDelivery): void {
    this.underWay.add(this.post(delivery));
  }

  private async post(delivery: DueDelivery): Promise<void> {
    const { poster, environment, schedule } = this.deps;
    const { receiver } = this.pages;
    const event = { ...delivery, eventId: publicId('event', environment, delivery.eventId) };
    const result = await deliver(poster, receiver, event, this.abortPosts.signal);
    if (result.failure === 'interrupted') return;
    this.failedInARow = result.success ? 0 : this.failedInARow + 1;
    const silenceMs = askedSilenceMs({ ...result, nowMs: Date.now() });
    this.askedSilenceMs = Math.max(this.askedSilenceMs, silenceMs);
    const next = nextState(result, delivery.attempts + 1, schedule);
    if (next.status === 'pending' && next.delayMs < takesRowsForMs) this.retriesSoon = true;
    this.recorder.add({
      deliveryId: delivery.id,
      eventId: delivery.eventId,
      eventType: delivery.eventType,
      url: receiver.url,
      ...outcomeOf(result),
      next,
      silenceMs,
    });
  }

  private async finish(): Promise<DrainOutcome> {
    if (this.request.failing) await this.releaseIfRecovered();
    const goesOn = this.request.brief === true && this.pages.foundAgainAt - this.startedAt >= steadyAfterMs && !this.deps.stopping.aborted;
    const left = await leaveDrain(this.deps.db, this.hold, { goesOn });
    if (!left) return this.close();
    const failing = left.consecutiveFailures >= failuresToSlowDown;
    const silenceMs = Math.max(this.askedSilenceMs, left.heldForMs ?? 0);
    const dueInMs = left.dueInMs === null ? null : Math.ceil(Math.max(0, left.dueInMs, silenceMs));
    return { state: 'open', failing, dueInMs, ...(goesOn ? { goesOn } : {}) };
  }

  private async releaseIfRecovered(): Promise<void> {
    const { db } = this.deps;
    const endpoint = await renewDrain(db, this.hold);
    if (!endpoint) throw new FencedOff();
    if (endpoint.consecutiveFailures < failuresToSlowDown) while (await releasePutOff(db, endpoint.id));
  }

  /** Of an endpoint that was deleted or disabled. */
  private async close(): Promise<DrainOutcome> {
    const { db } = this.deps;
    const endpoint = await renewDrain(db, this.hold);
    if (!endpoint) throw new FencedOff();
    const closed = endpoint.deletedAt !== null;
    if (closed || endpoint.status === 'disabled') await db.transaction((tx) => cancelPendingDeliveries(tx, endpoint.id));
    await endDrain(db, this.hold, { closed });
    return { state: closed ? 'closed' : 'open', failing: endpoint.consecutiveFailures >= failuresToSlowDown, dueInMs: null };
  }
}

function nextState(result: Delivered, number: number, schedule: readonly number[]): ScheduledAttempt['next'] {
  if (result.success) return { status: 'delivered' };
  const failed = { number, status: result.status, retryAfter: result.retryAfter, nowMs: Date.now() };
  const delayMs = nextAttemptDelay(failed, schedule, Math.random());
  return delayMs === null ? { status: 'exhausted' } : { status: 'pending', delayMs };
}
