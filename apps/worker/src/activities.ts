import type { Client } from '@temporalio/client';
import { createPaymentActivities } from '../../../activities/payment.activities.js';
import { createSubscriptionActivities } from '../../../activities/subscription.activities.js';
import { createTestClockActivities } from '../../../activities/test-clock.activities.js';
import { createWebhookEndpointActivities } from '../../../activities/webhook-endpoint.activities.js';
import { createWebhookJobActivities } from '../../../activities/webhook-job.activities.js';
import type { Config } from '../../../libs/config/config.js';
import type { QueueName } from '../../../libs/config/variables.js';
import type { Database, Db } from '../../../libs/db/client.js';
import type { SecretBox } from '../../../libs/db/secret.js';
import type { PaymentDeps } from '../../../libs/payments/payment.deps.js';
import type { Logger } from '../../../libs/telemetry/log.js';
import { clockMembers } from './clock-members.js';
import { addressPolicy } from '../../../libs/webhooks/address.js';
import { Poster } from '../../../libs/webhooks/poster.js';

/** What the parts of this process share. */
export interface Composition {
  config: Config;
  log: Logger;
  database: Database;
  db: Db;
  client: Client;
  secrets: SecretBox;
  payments: PaymentDeps;
  /** Aborted when the process is told to stop. */
  stopping: AbortController;
}

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/** The activities that each queue's worker offers. */
export function composeActivities(composition: Composition): Record<QueueName, Activities> {
  const { config, db, secrets, payments, stopping } = composition;
  const webhooks = {
    ...createWebhookEndpointActivities({
      db,
      environment: config.environment,
      secrets,
      poster: new Poster({ ...addressPolicy(config), maxSockets: config.webhookSockets, deadlineMs: config.webhookDeadlineMs }),
      schedule: config.webhookRetrySchedule,
      disableAfterMs: config.webhookDisableAfterSeconds * 1000,
      stopping: stopping.signal,
      slots: config.webhookSlots,
    }),
  };
  return {
    payments: { ...createPaymentActivities(payments) },
    subscriptions: { ...createSubscriptionActivities({ db, payments, jitterSeconds: config.subscriptionJitterSeconds }) },
    'test-clocks': { ...createTestClockActivities({ db, environment: config.environment, members: clockMembers(composition) }) },
    webhooks: { ...webhooks, ...createWebhookJobActivities({ db, environment: config.environment, stopping: stopping.signal }) },
    'webhooks-slow': webhooks,
  };
}
