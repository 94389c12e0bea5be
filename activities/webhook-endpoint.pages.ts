import { dueDeliveries, type DueDelivery } from '../libs/db/delivery.queries.js';
import type { Db } from '../libs/db/client.js';
import { putOffFollowers, putOffFreshDeliveries, renewDrain, reserveTurns, type DrainedEndpoint, type DrainHold } from '../libs/db/drain.writes.js';
import { openHeaders } from '../libs/db/endpoint-headers.js';
import type { SecretBox } from '../libs/db/secret.js';
import { secretPlace } from '../libs/db/webhook-endpoint.queries.js';
import type { Environment } from '../libs/domain/environment.js';
import { failuresToSlowDown } from '../libs/domain/webhook/waiting.js';
import { publicId } from '../libs/views/ids.js';
import type { Receiver } from '../libs/webhooks/deliver.js';
import { pageOfRate, type Pace } from './webhook-endpoint.pace.js';
import { FencedOff, type Recorder } from './webhook-endpoint.recorder.js';

export interface PagesOptions {
  db: Db;
  environment: Environment;
  secrets: SecretBox;
  hold: DrainHold;
  /** Of an endpoint that fails: its next probe instead of a page. */
  failing: boolean;
  recorder: Recorder;
  /** Given the turns of each page. */
  pace: Pace;
  /** Deliveries that are under way or not recorded yet; a page is added to them when it is read. */
  held: Set<string>;
  /** Called before each look. */
  looks: () => void;
}

const pageSize = 200;
/** What was read of the endpoint counts that long, as long as its version does. */
const knownForMs = 1_000;

/** What a drain reads: the endpoint as it stands, and the deliveries that are due there, page by page. */
export class Pages {
  /** Set when the endpoint was found to take deliveries. */
  receiver!: Receiver;
  /** When a look last found something that the first one did not. */
  foundAgainAt = -Infinity;
  private hasFound = false;
  private ahead: Promise<DueDelivery[] | null> | null = null;
  private readAt = performance.now();

  constructor(
    private readonly options: PagesOptions,
    public endpoint: DrainedEndpoint,
  ) {}

  /** Deliveries of a full page. */
  get limit(): number {
    const { ratePerSecond } = this.endpoint;
    return ratePerSecond === null ? pageSize : pageOfRate(ratePerSecond, pageSize);
  }

  /** Settings, secrets or the status are others than those that the page was read with. */
  get hasChanged(): boolean {
    const version = this.options.recorder.streak?.version;
    return version !== undefined && version > this.endpoint.version;
  }

  get isFailing(): boolean {
    return (this.options.recorder.streak ?? this.endpoint).consecutiveFailures >= failuresToSlowDown;
  }

  /** Whether the endpoint, as it was read, takes deliveries now. */
  admits(endpoint: DrainedEndpoint): boolean {
    const { secrets, environment } = this.options;
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
    return true;
  }

  /** The next page, held from now on; null if the endpoint takes no deliveries now. A full one is posted while the next is read. */
  async next(): Promise<DueDelivery[] | null> {
    const page = await (this.ahead ?? this.fetch());
    this.ahead = null;
    if (page?.length === pageSize && this.endpoint.ratePerSecond === null) {
      this.ahead = this.fetch();
      this.ahead.catch(() => undefined);
    }
    return page;
  }

  /** Resolves when nothing is read any more. */
  async settled(): Promise<void> {
    await this.ahead?.catch(() => undefined);
  }

  /** A page is read under the version that is known, so that the endpoint is read again only when there is none. */
  private async fetch(): Promise<DueDelivery[] | null> {
    const { db, held, looks } = this.options;
    looks();
    let page = this.isKnown() ? await this.read() : [];
    if (page.length === 0) {
      const { version } = this.endpoint;
      const wasKnown = this.isKnown();
      if (!(await this.refresh())) return null;
      if (!wasKnown || this.endpoint.version !== version) page = await this.read();
    }
    for (const delivery of page) held.add(delivery.id);
    if (page.length > 0) this.noteFind();
    else if (this.endpoint.ordered) await putOffFollowers(db, this.endpoint.id);
    await this.reserve(page.length);
    return page;
  }

  private noteFind(): void {
    if (this.hasFound) this.foundAgainAt = performance.now();
    this.hasFound = true;
  }

  private isKnown(): boolean {
    return !this.options.failing && !this.hasChanged && performance.now() - this.readAt < knownForMs;
  }

  /** Reads the endpoint again; false if it takes no deliveries now. */
  private async refresh(): Promise<boolean> {
    const { db, hold } = this.options;
    const endpoint = await renewDrain(db, hold);
    if (!endpoint) throw new FencedOff();
    return this.admits(endpoint);
  }

  private async read(): Promise<DueDelivery[]> {
    const { db, failing, held } = this.options;
    const { id, ordered, epoch, version } = this.endpoint;
    const except = [...held];
    if (!failing) return dueDeliveries(db, id, { limit: this.limit, except, ordered, under: { epoch, version } });
    if (!this.isFailing) return [];
    await putOffFreshDeliveries(db, id);
    return dueDeliveries(db, id, { limit: 1, except, triedFirst: true, ordered });
  }

  private async reserve(count: number): Promise<void> {
    const { db, hold, pace } = this.options;
    const { ratePerSecond } = this.endpoint;
    if (ratePerSecond === null) return pace.free();
    if (count === 0) return;
    const firstInMs = await reserveTurns(db, hold, { count, ratePerSecond });
    if (firstInMs === undefined) throw new FencedOff();
    pace.reserved({ firstInMs, count, ratePerSecond });
  }
}
