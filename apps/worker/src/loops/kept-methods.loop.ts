import { forgetVainWishes, methodKept, methodsToKeep, type KeptMethod } from '../../../../libs/db/kept-method.writes.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { commandSubscription } from '../../../../libs/temporal/subscription.client.js';
import type { Composition } from '../activities.js';
import { startOf } from '../subscription-start.js';
import { startPeriodic } from './periodic.js';

const everyMs = 2_000;
const batch = 50;

/** Gives subscriptions the cards that payers of their invoices asked to keep, where no API process did: it died, or the payment took its time. */
export function startKeeper({ config, db, client, log }: Composition): () => Promise<void> {
  const keep = async ({ attemptId, subscription, change, command }: KeptMethod): Promise<void> => {
    const start = startOf(subscription, config.environment);
    try {
      if (await commandSubscription(client, start, { change, command, waitMs: 0 })) await methodKept(db, attemptId);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      log.info({ subscription_id: start.subscription, reason: error.message }, 'a card is kept later');
    }
  };

  const round = async (isStopped: () => boolean): Promise<void> => {
    await forgetVainWishes(db);
    for (const kept of await methodsToKeep(db, config.environment, { limit: batch })) {
      if (isStopped()) return;
      await keep(kept);
    }
  };

  return startPeriodic({ everyMs, trouble: 'cannot keep the cards of payers', round }, log);
}
