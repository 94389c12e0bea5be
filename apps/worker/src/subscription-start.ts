import type { SubscriptionRow } from '../../../libs/db/schema/index.js';
import type { Environment } from '../../../libs/domain/environment.js';
import type { SubscriptionStart } from '../../../libs/temporal/subscription.client.js';
import { publicId } from '../../../libs/views/ids.js';

/** What a subscription's workflow is started again with from its row. */
export function startOf(row: SubscriptionRow, environment: Environment): SubscriptionStart {
  return {
    subscriptionId: row.id,
    accountId: row.accountId,
    subscription: publicId('sub', environment, row.id),
    customer: publicId('cus', environment, row.customerId),
    account: publicId('acct', environment, row.accountId),
    status: row.status,
    summary: `Subscription ${row.name}`.slice(0, 200),
  };
}
