import type { DrainOutcome } from '../libs/contracts/webhook-endpoint.contract.js';
import type { Db } from '../libs/db/client.js';
import { dueDeliveries, msUntilNextDue, type DueDelivery } from '../libs/db/delivery.queries.js';
import { cancelPendingDeliveries, type ScheduledAttempt } from '../libs/db/delivery.writes.js';
import { beginDrain, endDrain, putOffFreshDeliveries, renewDrain, type DrainedEndpoint, type DrainHold } from '../libs/db/drain.writes.js';
import type { SecretBox } from '../libs/db/secret.js';
import { secretPlace } from '../libs/db/webhook-endpoint.queries.js';
import type { Environment } from '../libs/domain/environment.js';
import { failuresToSlowDown } from '../libs/domain/webhook/waiting.js';
import { publicId } from '../libs/views/ids.js';
import { deliver, outcomeOf, type Delivered, type Receiver } from '../libs/webhooks/deliver.js';
import type { Poster } from '../libs/webhooks/poster.js';
import { nextAttemptDelay } from '../libs/webhooks/schedule.js';
import { FencedOff, Recorder } from './webhook-endpoint.recorder.js';

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
const lingersForMs = 1_000;
const lingerStepMs = 100;
const shortPagePauseMs = 20;
const defaultGraceMs = 5_000;

/**
 * Posts what is due at one endpoint until nothing is, or 10 s have passed. Run twice at once, only the later one records;
 * after a crash what was not recorded is posted again.
 */
export async function drainEndpoint(deps: DrainDeps, request: DrainRequest): Promise<DrainOutcome> {
  const epoch = await beginDrain(deps.db, request.endpointId);
  if (epoch === undefined) return { state: 'closed', failing: false, dueInMs: null };
  const drain = new Drain(deps, request, { endpointId: request.endpointId, epoch });
  try {
    return await drain.run();
  } catch (error) {
    if (error instanceof FencedOff) return { state: 'open', failing: request.failing, dueInMs: null };
    throw error;
  }
}

class Drain {
  private readonly held = new Set<string>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly abortPosts = new AbortController();
  private readonly startedAt = performance.now();
  private recorder: Recorder | null = null;
  private ahead: Promise<DueDelivery[] | null> | null = null;
  private endpoint!: DrainedEndpoint;
  private receiver!: Receiver;

  constructor(
    private readonly deps: DrainDeps,
    private readonly request: DrainRequest,
    private readonly hold: DrainHold,
  ) {}

  async run(): Promise<DrainOutcome> {
    const abort = (): void => this.abortPosts.abort();
    const stopSoon = (): void => { setTimeout(abort, this.deps.graceMs ?? defaultGraceMs).unref(); };
    this.request.cancelled.addEventListener('abort', abort, { once: true });
    this.deps.stopping.addEventListener('abort', stopSoon, { once: true });
    try {
      await this.pump();
      await Promise.all(this.underWay);
      await this.recorder?.flush();
    } finally {
      this.request.cancelled.removeEventListener('abort', abort);
      this.deps.stopping.removeEventListener('abort', stopSoon);
      this.abortPosts.abort();
      await Promise.allSettled([...this.underWay, this.ahead]);
    }
    return this.finish();
  }

  /** Pages of due rows into a window of posts, until there is a reason to stop. A full page is posted while the next is read. */
  private async pump(): Promise<void> {
    let idleSince: number | null = null;
    while (this.takesRows()) {
      const page = await (this.ahead ?? this.fetch());
      this.ahead = null;
      if (!page) return;
      if (page.length === pageSize) this.fetchAhead();
      for (const delivery of page) {
        await this.waitForSlot();
        if (!this.takesRows() || this.wrongQueue()) break;
        this.begin(delivery);
      }
      if (this.wrongQueue()) return;
      if (page.length > 0) {
        idleSince = null;
        if (this.request.failing) await this.settle();
        else if (page.length < pageSize) await pause(shortPagePauseMs, this.deps.stopping);
        continue;
      }
      if (this.held.size > 0) {
        await (this.underWay.size > 0 ? Promise.race([...this.underWay, pause(lingerStepMs, this.deps.stopping)]) : this.recorder?.flush());
        continue;
      }
      idleSince ??= performance.now();
      if (this.request.failing || performance.now() - idleSince >= lingersForMs || !this.request.mayLinger()) return;
      await pause(lingerStepMs, this.deps.stopping);
    }
  }

  private takesRows(): boolean {
    this.recorder?.check();
    return !this.deps.stopping.aborted && !this.request.cancelled.aborted && performance.now() - this.startedAt < takesRowsForMs;
  }

  /** Reads the endpoint again; false if it takes no deliveries now. */
  private async refresh(): Promise<boolean> {
    const { db, secrets, environment, disableAfterMs } = this.deps;
    const endpoint = await renewDrain(db, this.hold);
    if (!endpoint) throw new FencedOff();
    this.endpoint = endpoint;
    if (endpoint.deletedAt !== null || endpoint.status !== 'enabled') return false;
    this.receiver = {
      endpointId: publicId('webhook_endpoint', environment, endpoint.id),
      url: endpoint.url,
      format: endpoint.dataFormat,
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

  /** The next page, held from now on; null if the endpoint takes no deliveries now. */
  private async fetch(): Promise<DueDelivery[] | null> {
    if (!(await this.refresh())) return null;
    const page = await this.nextPage();
    for (const delivery of page) this.held.add(delivery.id);
    return page;
  }

  private async nextPage(): Promise<DueDelivery[]> {
    const { db } = this.deps;
    if (!this.request.failing) return dueDeliveries(db, this.endpoint.id, { limit: pageSize, except: [...this.held] });
    if (!this.isFailing()) return [];
    await putOffFreshDeliveries(db, this.endpoint.id);
    return dueDeliveries(db, this.endpoint.id, { limit: 1, except: [...this.held], triedFirst: true });
  }

  private isFailing(): boolean {
    return (this.recorder?.streak ?? this.endpoint).consecutiveFailures >= failuresToSlowDown;
  }

  /** A failing endpoint is left to the queue where it cannot hold up others. */
  private wrongQueue(): boolean {
    return !this.request.failing && this.isFailing();
  }

  private async waitForSlot(): Promise<void> {
    while (this.underWay.size >= mostAtOnce) await Promise.race(this.underWay);
  }

  private async settle(): Promise<void> {
    await Promise.all(this.underWay);
    await this.recorder?.flush();
  }

  private begin(delivery: DueDelivery): void {
    const post = this.post(delivery).finally(() => this.underWay.delete(post));
    this.underWay.add(post);
  }

  private async post(delivery: DueDelivery): Promise<void> {
    const { poster, environment, schedule } = this.deps;
    const { url } = this.receiver;
    const event = { ...delivery, eventId: publicId('event', environment, delivery.eventId) };
    const result = await deliver(poster, this.receiver, event, this.abortPosts.signal);
    if (result.failure === 'interrupted') return;
    this.recorder!.add({
      deliveryId: delivery.id,
      eventId: delivery.eventId,
      eventType: delivery.eventType,
      url,
      ...outcomeOf(result),
      next: nextState(result, delivery.attempts + 1, schedule),
    });
  }

  private async finish(): Promise<DrainOutcome> {
    const { db } = this.deps;
    const endpoint = await renewDrain(db, this.hold);
    if (!endpoint) throw new FencedOff();
    const closed = endpoint.deletedAt !== null;
    if (closed || endpoint.status === 'disabled') await db.transaction((tx) => cancelPendingDeliveries(tx, endpoint.id));
    const dueInMs = closed || endpoint.status !== 'enabled' ? null : await msUntilNextDue(db, endpoint.id);
    await endDrain(db, this.hold, { closed });
    const failing = endpoint.consecutiveFailures >= failuresToSlowDown;
    return { state: closed ? 'closed' : 'open', failing, dueInMs: dueInMs === null ? null : Math.max(0, Math.ceil(dueInMs)) };
  }
}

function nextState(result: Delivered, number: number, schedule: readonly number[]): ScheduledAttempt['next'] {
  if (result.success) return { status: 'delivered' };
  const failed = { number, status: result.status, retryAfter: result.retryAfter, nowMs: Date.now() };
  const delayMs = nextAttemptDelay(failed, schedule, Math.random());
  return delayMs === null ? { status: 'exhausted' } : { status: 'pending', delayMs };
}

/** Resolves after `ms`, or as soon as the process is told to stop. */
function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stopping.addEventListener('abort', end, { once: true });
    if (stopping.aborted) end();
  });
}
