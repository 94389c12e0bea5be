import { newId } from '../../../../libs/db/mint.js';
import { accountProcessors } from '../../../../libs/db/payment-context.queries.js';
import { openReconciliation } from '../../../../libs/db/reconciliation.writes.js';
import type { AccountRow } from '../../../../libs/db/schema/index.js';
import { advancePayment } from '../../../../libs/payments/advance-payment.js';
import type { Finding } from '../../../../libs/payments/compare-page.js';
import { openConnection } from '../../../../libs/payments/connection-cache.js';
import type { PaymentDeps } from '../../../../libs/payments/payment.deps.js';
import { canList, reconcile } from '../../../../libs/payments/reconcile.js';

export interface AccountReport {
  compared: number;
  findings: number;
  /** Connections that could not be compared, with why. */
  failed: string[];
}

interface Wish {
  hours: number;
  print: (line: string) => void;
}

/** Compares each connection of the account here and now; what is learned is applied before the next page. */
export async function reconcileAccount(deps: PaymentDeps, account: AccountRow, { hours, print }: Wish): Promise<AccountReport> {
  const report: AccountReport = { compared: 0, findings: 0, failed: [] };
  const until = new Date();
  const since = new Date(until.getTime() - hours * 3_600_000);
  const apply = async (findings: Finding[]): Promise<void> => {
    for (const finding of findings) {
      print(lineOf(finding));
      if (finding.intentId) await advancePayment(deps, { intentId: finding.intentId, driver: 'api' });
    }
  };
  for (const row of await accountProcessors(deps.db, account.id)) {
    const connection = openConnection(row, deps);
    if (row.deletedAt && row.deletedAt < since) continue;
    if (!canList(deps, connection)) {
      print(`${connection.publicId} ${row.name}: cannot list its payments, not compared`);
      continue;
    }
    const wanted = { id: newId(), accountId: account.id, processorId: row.id, since, until };
    const opened = await openReconciliation(deps.db, { ...wanted, supported: true, claimed: true });
    const run = await reconcile(deps, opened!, { onFindings: apply });
    report.compared += run?.compared ?? 0;
    report.findings += run?.differences ?? 0;
    if (run?.status !== 'done') report.failed.push(`${connection.publicId} (${String(run?.details?.unavailable ?? 'another process took it over')})`);
    else print(`${connection.publicId} ${row.name}: ${run.compared} compared, ${run.differences} differences`);
  }
  return report;
}

const words: Record<Finding['kind'], string> = {
  learned: 'learned from the processor',
  attempt_restored: 'attempt that the database had lost, made again',
  difference: 'difference, on the attention list',
  unknown_payment: 'payment that the database does not know, on the attention list',
};

function lineOf({ kind, reference, processor_payment_id: their, charge_id: charge, detail }: Finding): string {
  return `  ${reference || their}: ${words[kind]}${detail ? ` (${detail})` : ''} [${[charge, their].filter(Boolean).join(', ')}]`;
}
