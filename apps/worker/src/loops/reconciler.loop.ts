import { LRUCache } from 'lru-cache';
import type { SubscriptionRow } from '../../../../libs/db/schema/index.js';
import { subscriptionsToWake } from '../../../../libs/db/subscription.queries.js';
import { wakeSubscriptionWorkflow } from '../../../../libs/temporal/subscription.client.js';
import { subscriptionWorkflowId } from '../../../../libs/contracts/subscription.contract.js';
import { endSilentWorkflow, endStuckWorkflow } from '../../../../libs/temporal/stuck-workflow.js';
import type { Composition } from '../activities.js';
import { startOf } from '../subscription-start.js';
import { startPeriodic } from './periodic.js';

const everyMs = 2_000;
const batch = 100;
const atOnce = 8;
/** A workflow that was woken and is still late is busy, or waits for a person: it is not woken again at once. */
const quietMs = 30_000;
const renewedMs = 3_600_000;

/** Wakes or starts again the workflow of every subscription that should have moved and did not. */
export function startReconciler({ config, db, client, log }: Composition): () => Promise<void> {
  const woken = new LRUCache<string, number>({ max: 50_000, ttl: quietMs });
  /** Those that may have been woken in vain. */
  const before = new LRUCache<string, number>({ max: 50_000 });
  /** Those whose workflow was begun anew: what still does not move waits for a person, or for a rule. */
  const renewed = new LRUCache<string, number>({ max: 50_000, ttl: renewedMs });

  const wake = async (row: SubscriptionRow): Promise<void> => {
    const start = startOf(row, config.environment);
    const { subscription } = start;
    const workflowId = subscriptionWorkflowId(subscription);
    if (before.get(row.id) === row.version) {
      if (await endStuckWorkflow(client, workflowId, 3)) log.warn({ subscription_id: subscription }, 'a subscription workflow that failed again and again was ended');
      else if (renewed.get(row.id) !== row.version && (await endSilentWorkflow(client, workflowId))) {
        renewed.set(row.id, row.version);
        log.warn({ subscription_id: subscription }, 'a subscription workflow that was woken in vain was ended');
      }
    }
    await wakeSubscriptionWorkflow(client, start);
    before.set(row.id, row.version);
    log.info({ subscription_id: subscription, status: row.status }, 'late subscription goes on');
  };

  const round = async (isStopped: () => boolean): Promise<void> => {
    const found = (await subscriptionsToWake(db, batch)).filter((row) => woken.get(row.id) !== row.version);
    for (let index = 0; index < found.length && !isStopped(); index += atOnce) {
      const part = found.slice(index, index + atOnce);
      await Promise.all(part.map(wake));
      for (const row of part) woken.set(row.id, row.version);
    }
  };

  return startPeriodic({ everyMs, trouble: 'cannot reconcile subscriptions', round }, log);
}
