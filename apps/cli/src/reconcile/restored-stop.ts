import { and, eq, isNull } from 'drizzle-orm';
import { systemChange } from '../../../../libs/db/account.writes.js';
import { transact } from '../../../../libs/db/change.js';
import { settleEarlierWrites } from '../../../../libs/db/charge-stop.queries.js';
import { liftStop, startStop } from '../../../../libs/db/charge-stop.writes.js';
import { newId } from '../../../../libs/db/mint.js';
import { chargeStops, type AccountRow } from '../../../../libs/db/schema/index.js';
import type { PaymentDeps } from '../../../../libs/payments/payment.deps.js';
import { publicId } from '../../../../libs/views/ids.js';

/** A stop that this command began, or that an interrupted run of it left. */
export interface RestoredStop {
  accountId: string;
  id: string;
  /** Public ids. */
  account: string;
  stop: string;
}

const reason = 'restored';
const restartPerSecond = 10;

/** No charge of any account begins from here on. An account that an operator has stopped already stays so. */
export async function stopAccounts(deps: PaymentDeps, accounts: AccountRow[]): Promise<RestoredStop[]> {
  const stops: RestoredStop[] = [];
  for (const account of accounts) {
    const standing = await standingStop(deps, account.id);
    if (standing && standing.reason !== reason) continue;
    const id = standing?.id ?? (await begin(deps, account.id));
    stops.push({ accountId: account.id, id, account: publicId('acct', deps.environment, account.id), stop: publicId('stop', deps.environment, id) });
  }
  await settleEarlierWrites(deps.db);
  return stops;
}

async function begin(deps: PaymentDeps, accountId: string): Promise<string> {
  const change = systemChange(deps.environment, accountId);
  const id = newId();
  await transact(deps.db, change, (tx) => startStop(tx, change, { id, scope: 'account', objectId: accountId, reason }));
  return id;
}

async function standingStop(deps: PaymentDeps, accountId: string) {
  const open = and(eq(chargeStops.scope, 'account'), eq(chargeStops.objectId, accountId), isNull(chargeStops.liftedAt));
  const [row] = await deps.db.select().from(chargeStops).where(open);
  return row;
}

export async function liftStops(deps: PaymentDeps, stops: RestoredStop[]): Promise<string[]> {
  const lines: string[] = [];
  for (const { accountId, id, account } of stops) {
    const change = systemChange(deps.environment, accountId);
    const { waiting_payments: waiting } = await transact(deps.db, change, (tx) => liftStop(tx, change, { id, restartPerSecond }));
    lines.push(`lifted the stop of ${account}: ${waiting} payments go on, ${restartPerSecond} a second`);
  }
  return lines;
}
