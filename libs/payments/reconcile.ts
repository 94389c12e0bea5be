import { raiseAttention, settleAttention } from '../db/attention.writes.js';
import { transact } from '../db/change.js';
import { unseenCharges } from '../db/reconciliation.queries.js';
import { advanceReconciliation, markReconciled, renewClaim, type RunPatch } from '../db/reconciliation.writes.js';
import type { ReconciliationRow } from '../db/schema/index.js';
import type { ProcessorKind } from '../processors/port.js';
import { comparePage, findingOf, raiseDifference, systemChange, type Comparing, type Finding } from './compare-page.js';
import type { OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';

/** Clocks differ: at the edges of the range a charge may stand on the other side at the processor. */
const edgeMs = 10 * 60_000;
const renewMs = 5_000;
const unseenAtOnce = 20;
/** A processor that cannot be read at night is asked again when the claim of the failed try has ended. */
const nightlyTries = 20;
/** How many findings a run keeps in its details; all of them are counted. */
const mostKept = 200;
/** Prefix of the cursor while our own charges are asked for that the list did not show. */
const unseen = 'unseen:';

export interface ReconcileOptions {
  /** Ends early, to be resumed: the process stops. */
  isStopped?: () => boolean;
  onFindings?: (findings: Finding[]) => Promise<void>;
}

/**
 * Compares one connection's payments of the run's range with ours, page by page, and resumes where it was interrupted. Needs the
 * claim that `claimReconciliation` gave; null: another process has it now. Running a page twice adds nothing.
 */
export async function reconcile(deps: PaymentDeps, claimed: ReconciliationRow, options: ReconcileOptions = {}): Promise<ReconciliationRow | null> {
  const connection = await deps.connections.one(claimed.accountId, claimed.processorId);
  if (!connection || !canList(deps, connection)) return end(deps, claimed, { status: 'not_supported' });
  const renewal = setInterval(() => void renewClaim(deps.db, claimed).catch((error: unknown) => deps.warn('claim not renewed', { error: String(error) })), renewMs);
  try {
    let run: ReconciliationRow | null = claimed;
    while (run?.status === 'running' && !options.isStopped?.()) {
      run = run.cursor?.startsWith(unseen) ? await nextUnseen(deps, { run, connection }, options) : await nextPage(deps, { run, connection }, options);
    }
    return run;
  } finally {
    clearInterval(renewal);
  }
}

/** Whether the connection can be asked for its payments. */
export function canList({ processors }: Pick<PaymentDeps, 'processors'>, connection: OpenConnection): boolean {
  if (!processors.supports(connection.kind)) return false;
  const adapter = processors.processorFor(connection.kind);
  return adapter.list !== undefined && adapter.capabilities(connection).list;
}

/** Kinds whose connections can be asked for their payments. */
export function listingKinds({ processors }: Pick<PaymentDeps, 'processors'>): ProcessorKind[] {
  const kinds: ProcessorKind[] = ['simulator', 'stripe', 'http'];
  return kinds.filter((kind) => processors.supports(kind) && processors.processorFor(kind).list !== undefined);
}

async function nextPage(deps: PaymentDeps, { run, connection }: Comparing, options: ReconcileOptions): Promise<ReconciliationRow | null> {
  const adapter = deps.processors.processorFor(connection.kind);
  const answer = await adapter.list!(connection, { since: run.since.toISOString(), until: run.until.toISOString(), cursor: run.cursor });
  if (!answer.ok) return fail(deps, { run, connection }, answer.unavailable);
  const findings = await comparePage(deps, { run, connection }, answer.payments);
  const compared = run.compared + answer.payments.length;
  const saved = await advanceReconciliation(deps.db, run, { ...counted(run, findings), compared, cursor: answer.nextCursor ?? unseen });
  if (saved) await options.onFindings?.(findings);
  return saved;
}

/** Our successful charges that the list did not show are asked for one by one. */
async function nextUnseen(deps: PaymentDeps, { run, connection }: Comparing, options: ReconcileOptions): Promise<ReconciliationRow | null> {
  const range = { from: new Date(run.since.getTime() + edgeMs), to: new Date(run.until.getTime() - edgeMs) };
  const after = run.cursor!.slice(unseen.length) || null;
  const page = await unseenCharges(deps.db, run, { ...range, after, limit: unseenAtOnce });
  const findings: Finding[] = [];
  for (const charge of page) {
    const base = findingOf(deps, { reference: charge.reference, processorPaymentId: charge.processorPaymentId ?? '' }, charge.id);
    const found = await raiseDifference(deps, { run, connection }, { charge, base });
    findings.push(...found);
    if (found.length === 0) await markReconciled(deps.db, { chargeIds: [charge.id], agreeing: [] }, new Date());
  }
  const last = page.at(-1);
  const patch = counted(run, findings);
  if (last) {
    const saved = await advanceReconciliation(deps.db, run, { ...patch, cursor: unseen + last.id });
    if (saved) await options.onFindings?.(findings);
    return saved;
  }
  await settleFailure(deps, run);
  return end(deps, run, { ...patch, status: 'done' });
}

function counted(run: ReconciliationRow, findings: Finding[]): RunPatch {
  const kept = (run.details?.findings as unknown[] | undefined) ?? [];
  const shown = findings.map(({ intentId: _intent, ...finding }) => finding);
  return { differences: run.differences + findings.length, details: { ...run.details, findings: [...kept, ...shown].slice(0, mostKept) } };
}

function end(deps: PaymentDeps, run: ReconciliationRow, patch: RunPatch): Promise<ReconciliationRow | null> {
  return advanceReconciliation(deps.db, run, { ...patch, cursor: null, finishedAt: new Date() });
}

async function fail(deps: PaymentDeps, { run, connection }: Comparing, unavailable: string): Promise<ReconciliationRow | null> {
  const failures = Number(run.details?.failures ?? 0) + 1;
  if (run.night && failures < nightlyTries) {
    await advanceReconciliation(deps.db, run, { details: { ...run.details, failures, unavailable } });
    return null;
  }
  return transact(deps.db, systemChange(deps, run), async (tx) => {
    const patch = { status: 'failed', finishedAt: new Date(), details: { ...run.details, unavailable } } as const;
    const ended = await advanceReconciliation(tx, run, patch);
    const reason = `The payments of connection ${connection.name} could not be compared: ${unavailable}`;
    const line = { accountId: run.accountId, type: 'reconciliation_failed', kind: 'processor', objectId: run.processorId, reason, actions: [] };
    if (ended) await raiseAttention(tx, line, new Date());
    return ended;
  });
}

async function settleFailure(deps: PaymentDeps, run: ReconciliationRow): Promise<void> {
  const line = { type: 'reconciliation_failed', objectId: run.processorId, resolution: 'A later comparison came to its end.' };
  await transact(deps.db, systemChange(deps, run), (tx) => settleAttention(tx, line, new Date()));
}
