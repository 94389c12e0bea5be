import type { DrainOutcome } from '../libs/contracts/webhook-endpoint.contract.js';
import type { Db } from '../libs/db/client.js';
import { dueDeliveries, type DueDelivery } from '../libs/db/delivery.queries.js';
import { cancelPendingDeliveries, type ScheduledAttempt } from '../libs/db/delivery.writes.js';
import {
  beginDrain, endDrain, leaveDrain, putOffFollowers, putOffFreshDeliveries, releasePutOff, renewDrain, reserveTurns,
  type DrainedEndpoint, type DrainHold,
} from '../libs/db/drain.writes.js';
import { openHeaders } from '../libs/db/endpoint-headers.js';
import type { SecretBox } from '../libs/db/secret.js';
import { secretPlace } from '../libs/db/webhook-endpoint.queries.js';
import type { Environment } from '../libs/domain/environment.js';
import { failuresToSlowDown } from '../libs/domain/webhook/waiting.js';
import { publicId } from '../libs/views/ids.js';
import { deliver, outcomeOf, type Delivered, type Receiver } from '../libs/webhooks/deliver.js';
import type { Poster } from '../libs/webhooks/poster.js';
import { askedSilenceMs, nextAttemptDelay } from '../libs/webhooks/schedule.js';
import { Linger } from './webhook-endpoint.linger.js';
import { Pace, pageOfRate, pause } from './webhook-endpoint.pace.js';
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
  /** Whether the process has room to wait a moment for more work. */
  mayLinger: () => boolean;
  /** Aborted when Temporal gives up on this drain. */
  cancelled: AbortSignal;
}

const pageSize = 200;
const mostAtOnce = 10;
const takesRowsForMs = 10_000;
/** A drain that mostly waits for its rate gives its slot to others after this, where they need it. */
const givesWayAfterMs = 1_000;
const lookBesidePostsMs = 100;
/** What was read of the endpoint counts that long, as long as its version does. */
const knownForMs = 1_000;
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
  private recorder: Recorder | null = null;
  private ahead: Promise<DueDelivery[] | null> | null = null;
  private receiver!: Receiver;
  private readAt = performance.now();

  constructor(
    private readonly deps: DrainDeps,
    private readonly request: DrainRequest,
    private endpoint: DrainedEndpoint,
  ) {
    this.hold = { endpointId: endpoint.id, epoch: endpoint.epoch };
    this.linger = new Linger({
      stopping: deps.stopping,
      goesOn: () => this.takesRows(),
      isBusy: () => this.held.size > 0,
      comesUnannounced: () => this.retriesSoon || this.endpoint.ordered,
      mayLinger: () => !request.failing && request.mayLinger(),
    });
  }

  async run(): Promise<DrainOutcome> {
    const abort = (): void => this.abortPosts.abort();
    const stopSoon = (): void => { setTimeout(abort, this.deps.graceMs ?? defaultGraceMs).unref(); };
    this.request.cancelled.addEventListener('abort', abort, { once: true });
    this.deps.stopping.addEventListener('abort', stopSoon, { once: true });
    try {
      if (this.admits(this.endpoint)) await this.pump();
      await this.underWay.below(1);
      await this.recorder?.flush();
    } finally {
      this.request.cancelled.removeEventListener('abort', abort);
      this.deps.stopping.removeEventListener('abort', stopSoon);
      this.abortPosts.abort();
      await Promise.allSettled([this.underWay.settled(), this.ahead]);
    }
    return this.finish();
  }

  /** Pages of due rows into a window of posts, until there is a reason to stop. A full page is posted while the next is read. */
  private async pump(): Promise<void> {
    while (this.takesRows()) {
      const page = await (this.ahead ?? this.fetch());
      this.ahead = null;
      if (!page) return;
      if (page.length === pageSize && this.endpoint.ratePerSecond === null) this.fetchAhead();
      await this.beginAll(page);
      if (this.wrongQueue()) return;
      if (page.length > 0 && this.request.failing) await this.settle();
      else if (page.length === 0 && this.held.size > 0 && this.linger.isDeaf) await this.somePost();
      else if (page.length < this.pageLimit() && !(await this.linger.again(page.length > 0))) return;
    }
  }

  /** What one post that ends makes possible is seen by the next look. */
  private async somePost(): Promise<void> {
    if (this.underWay.size > 0) await Promise.race([this.underWay.change(), pause(lookBesidePostsMs, this.deps.stopping)]);
    else await this.recorder?.flush();
  }

  private async beginAll(page: DueDelivery[]): Promise<void> {
    for (const [index, delivery] of page.entries()) {
      const most = Math.min(mostAtOnce, this.endpoint.maxInFlight ?? mostAtOnce);
      if (this.underWay.size >= most) await this.underWay.below(most);
      const turnInMs = this.pace.next();
      if (turnInMs > 0) await pause(turnInMs, this.deps.stopping);
      if (!this.takesRows() || this.wrongQueue() || this.hasChanged()) {
        for (const left of page.slice(index)) this.held.delete(left.id);
        return;
      }
      this.begin(delivery);
    }
  }

  private takesRows(): boolean {
    this.recorder?.check();
    const ms = performance.now() - this.startedAt;
    const givesWay = ms >= givesWayAfterMs && this.endpoint?.ratePerSecond != null && !this.request.mayLinger();
    return !this.deps.stopping.aborted && !this.request.cancelled.aborted && ms < takesRowsForMs && !givesWay && this.askedSilenceMs === 0;
  }

  /** Settings, secrets or the status are others than those that the page was read with. */
  private hasChanged(): boolean {
    const version = this.recorder?.streak?.version;
    return version !== undefined && version > this.endpoint.version;
  }

  private pageLimit(): number {
    const { ratePerSecond } = this.endpoint;
    return ratePerSecond === null ? pageSize : pageOfRate(ratePerSecond, pageSize);
  }

  /** Reads the endpoint again; false if it takes no deliveries now. */
  private async refresh(): Promise<boolean> {
    const endpoint = await renewDrain(this.deps.db, this.hold);
    if (!endpoint) throw new FencedOff();
    return this.admits(endpoint);
  }

  private admits(endpoint: DrainedEndpoint): boolean {
    const { db, secrets, environment, disableAfterMs } = this.deps;
    this.endpoint = endpoint;
    this.readAt = performance.now();
    if (endpoint.deletedAt !== null || endpoint.status !== 'enabled' || (endpoint.heldForMs ?? 0) > 0) return false;
    this.receiver = {
      endpointId: publicId('webhook_endpoint', environment, endpoint.id),
      url: endpoint.url,
      format: endpoint.dataFormat,
      headers: openHeaders(endpoint.id, endpoint.headers, secrets),
      secrets: endpoint.secrets.map(({ id, sealed }) => secrets.open(sealed, secretPlace(id))),
    };
    this.recorder ??= new Recorder(
      { db, environment, accountId: endpoint.accountId, hold: this.hold, disableAfterMs },
      (ids) => ids.forEach((id) => this.held.delete(id)),
    );
    return true;
  }

  private fetchAhead(): void {
    this.ahead = this.fetch();
    this.ahead.catch(() => undefined);
  }

  /**
   * The next page, held from now on; null if the endpoint takes no deliveries now. A page is read under the version that is known, so
   * that the endpoint is read again only when there is none.
   */
  private async fetch(): Promise<DueDelivery[] | null> {
    this.linger.looks();
    let page = this.isKnown() ? await this.nextPage() : [];
    if (page.length === 0) {
      const { version } = this.endpoint;
      const wasKnown = this.isKnown();
      if (!(await this.refresh())) return null;
      if (!wasKnown || this.endpoint.version !== version) page = await this.nextPage();
    }
    for (const delivery of page) this.held.add(delivery.id);
    if (page.length === 0 && this.endpoint.ordered) await putOffFollowers(this.deps.db, this.endpoint.id);
    await this.reserve(page.length);
    return page;
  }

  private isKnown(): boolean {
    return !this.request.failing && !this.hasChanged() && performance.now() - this.readAt < knownForMs;
  }

  private async reserve(count: number): Promise<void> {
    const { ratePerSecond } = this.endpoint;
    if (ratePerSecond === null) return this.pace.free();
    if (count === 0) return;
    const firstInMs = await reserveTurns(this.deps.db, this.hold, { count, ratePerSecond });
    if (firstInMs === undefined) throw new FencedOff();
    this.pace.reserved({ firstInMs, count, ratePerSecond });
  }

  private async nextPage(): Promise<DueDelivery[]> {
    const { db } = this.deps;
    const { id, ordered, epoch, version } = this.endpoint;
    const except = [...this.held];
    if (!this.request.failing) return dueDeliveries(db, id, { limit: this.pageLimit(), except, ordered, under: { epoch, version } });
    if (!this.isFailing()) return [];
    await putOffFreshDeliveries(db, id);
    return dueDeliveries(db, id, { limit: 1, except, triedFirst: true, ordered });
  }

  private isFailing(): boolean {
    return (this.recorder?.streak ?? this.endpoint).consecutiveFailures >= failuresToSlowDown;
  }

  /** A failing endpoint is left to the queue where it cannot hold up others. */
  private wrongQueue(): boolean {
    return !this.request.failing && (this.failedInARow >= failuresToSlowDown || this.isFailing());
  }

  private async settle(): Promise<void> {
    await this.underWay.below(1);
    await this.recorder?.flush();
  }

  private begin(delivery: DueDelivery): void {
    this.underWay.add(this.post(delivery));
  }

  private async post(delivery: DueDelivery): Promise<void> {
    const { poster, environment, schedule } = this.deps;
    const { url } = this.receiver;
    const event = { ...delivery, eventId: publicId('event', environment, delivery.eventId) };
    const result = await deliver(poster, this.receiver, event, this.abortPosts.signal);
    if (result.failure === 'interrupted') return;
    this.failedInARow = result.success ? 0 : this.failedInARow + 1;
    const silenceMs = askedSilenceMs({ ...result, nowMs: Date.now() });
    this.askedSilenceMs = Math.max(this.askedSilenceMs, silenceMs);
    const next = nextState(result, delivery.attempts + 1, schedule);
    if (next.status === 'pending' && next.delayMs < takesRowsForMs) this.retriesSoon = true;
    this.recorder!.add({
      deliveryId: delivery.id,
      eventId: delivery.eventId,
      eventType: delivery.eventType,
      url,
      ...outcomeOf(result),
      next,
      silenceMs,
    });
  }

  private async finish(): Promise<DrainOutcome> {
    if (this.request.failing) await this.releaseIfRecovered();
    const left = await leaveDrain(this.deps.db, this.hold);
    if (!left) return this.close();
    const failing = left.consecutiveFailures >= failuresToSlowDown;
    const silenceMs = Math.max(this.askedSilenceMs, left.heldForMs ?? 0);
    return { state: 'open', failing, dueInMs: left.dueInMs === null ? null : Math.ceil(Math.max(0, left.dueInMs, silenceMs)) };
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
