import { eq } from 'drizzle-orm';
import { defaultUpcomingDays } from '../domain/subscription/dunning.js';
import { defaultDunningPolicy } from '../domain/subscription/dunning-policy.js';
import type { BillingRules } from '../domain/subscription/plan.js';
import type { Db, Tx } from './client.js';
import { accounts, type AccountRow } from './schema/index.js';

/** What the account has settled for its subscriptions, or the defaults. */
export async function billingRules(db: Db | Tx, accountId: string): Promise<BillingRules> {
  const [row] = await db.select({ policy: accounts.dunningPolicy, settings: accounts.billingSettings }).from(accounts).where(eq(accounts.id, accountId));
  return rulesOf(row);
}

export function rulesOf(row: { policy: AccountRow['dunningPolicy']; settings: AccountRow['billingSettings'] } | undefined): BillingRules {
  return { dunningPolicy: row?.policy ?? defaultDunningPolicy, upcomingDays: row?.settings?.invoiceUpcomingDays ?? defaultUpcomingDays };
}
