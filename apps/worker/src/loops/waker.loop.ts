import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { webhookEndpointWorkflowId } from '../../../../libs/contracts/webhook-endpoint.contract.js';
import type { Db } from '../../../../libs/db/client.js';
import { claimEndpointsToWake, type EndpointToWake } from '../../../../libs/db/drain.writes.js';
import { openWakeListener } from '../../../../libs/db/wake.js';
import type { Environment } from '../../../../libs/domain/environment.js';
import type { Logger } from '../../../../libs/telemetry/log.js';
import { Pace } from '../../../../libs/temporal/pace.js';
import { endBrokenWorkflow } from '../../../../libs/temporal/stuck-workflow.js';
import { wakeWebhookEndpoint } from '../../../../libs/temporal/webhook-endpoint.client.js';
import { publicId } from '../../../../libs/views/ids.js';

export interface WakerDeps {
  db: Db;
  databaseUrl: string;
  client: Client;
  environment: Environment;
  log: Logger;
}

const pollMs = 250;
const mostAtOnce = 8;
/** Wakes that follow each other are one look for due deliveries: the first is heard at once, drains that run hear the others too. */
const roundGapMs = 40;
/** A thousand endpoints that hear one event are woken within 42 s, and payments beside them stay quick. */
const perSecond = 24;
/** A dispatcher that was woken for so long and began no drain has perhaps lost its history. */
const inVainMs = 20_000;

/**
 * Starts or wakes the dispatcher of every endpoint with due deliveries: at once after a NOTIFY, and by a poll as safety net. A
 * wake that fails is claimed again after 5 s. Several worker processes may run it. Returns how to stop it.
 */
export function startWaker(deps: WakerDeps): () => Promise<void> {
  const waker = new Waker(deps);
  const listener = openWakeListener({
    databaseUrl: deps.databaseUrl,
    onError: (err) => deps.log.warn({ err }, 'wake listener lost its connection'),
    onWake: () => waker.nudge(),
  });
  const poll = setInterval(() => waker.nudge(), pollMs);
  return async () => {
    clearInterval(poll);
    await Promise.all([waker.stop(), listener.close()]);
  };
}

class Waker {
  private round: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  private healthy = true;
  private readonly pace = new Pace(perSecond);
  /** Endpoints that were woken: after which drain, and since when. */
  private readonly woken = new LRUCache<string, { epoch: number; since: number }>({ max: 50_000 });

  constructor(private readonly deps: WakerDeps) {}

  nudge(): void {
    this.again = true;
    this.round ??= this.run().finally(() => { this.round = null; });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.round;
  }

  private async run(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        const claimed = await claimEndpointsToWake(this.deps.db, mostAtOnce);
        if (claimed.length === mostAtOnce) this.again = true;
        await Promise.all(claimed.map((endpoint) => this.wake(endpoint)));
        if (claimed.length < mostAtOnce) await new Promise((resolve) => setTimeout(resolve, roundGapMs));
        if (!this.healthy) this.deps.log.info('waking webhook endpoints again');
        this.healthy = true;
      } catch (err) {
        if (this.healthy) this.deps.log.warn({ err }, 'cannot wake webhook endpoints');
        this.healthy = false;
        return;
      }
    }
  }

  private async wake({ id, accountId, epoch }: EndpointToWake): Promise<void> {
    await this.pace.turn();
    const { client, environment } = this.deps;
    const endpoint = publicId('webhook_endpoint', environment, id);
    const known = this.woken.get(id);
    const wasInVain = known?.epoch === epoch && performance.now() - known.since > inVainMs;
    if (wasInVain) await this.endIfBroken(endpoint);
    await wakeWebhookEndpoint(client, { endpointId: id, endpoint, account: publicId('acct', environment, accountId) });
    if (wasInVain || known?.epoch !== epoch) this.woken.set(id, { epoch, since: performance.now() });
  }

  /** The wake that follows begins it anew: what it knows stands in rows. */
  private async endIfBroken(endpoint: string): Promise<void> {
    const { client, log } = this.deps;
    if (await endBrokenWorkflow(client, webhookEndpointWorkflowId(endpoint), 3)) {
      log.warn({ endpoint_id: endpoint }, 'a dispatcher that was woken in vain was ended');
    }
  }
}
