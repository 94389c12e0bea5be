import type { TestClockDeps } from '../../../activities/test-clock.activities.js';
import { advanceSubscriptionOnClock, commandSubscription } from '../../../libs/temporal/subscription.client.js';
import type { Composition } from './activities.js';
import { startOf } from './subscription-start.js';

/** How a test clock reaches the workflows of its subscriptions. */
export function clockMembers({ client, config }: Composition): TestClockDeps['members'] {
  return {
    advance: (member, until) => advanceSubscriptionOnClock(client, startOf(member, config.environment), until),
    async cancel(member, change) {
      const command = { type: 'cancel', cancelUnpaidInvoices: true, fullRefund: false, prorate: false, details: null } as const;
      await commandSubscription(client, startOf(member, config.environment), { change, command, waitMs: 0 });
    },
  };
}
