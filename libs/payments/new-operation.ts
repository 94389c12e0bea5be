import { newId } from '../db/mint.js';
import type { ChargeOperationRow, ChargeRow } from '../db/schema/index.js';

export interface OperationDraft {
  type: ChargeOperationRow['type'];
  purpose: ChargeOperationRow['purpose'];
  amountAtom: number;
  refundId?: string | null;
  /** The command that asked for it; default: derived by the writer. */
  commandId?: string;
}

interface Around {
  operations: readonly ChargeOperationRow[];
  clock: () => number;
}

/** A money operation that has not been sent. Its reference counts the charge's operations of the same type. */
export function newOperation(around: Around, charge: ChargeRow, draft: OperationDraft): ChargeOperationRow {
  const at = new Date(around.clock());
  const number = around.operations.filter((each) => each.chargeId === charge.id && each.type === draft.type).length + 1;
  const id = newId();
  return {
    id,
    accountId: charge.accountId,
    paymentIntentId: charge.paymentIntentId,
    chargeId: charge.id,
    type: draft.type,
    purpose: draft.purpose,
    processorOperationId: null,
    amountAtom: draft.amountAtom,
    status: 'pending',
    refundId: draft.refundId ?? null,
    reference: `${charge.reference}-${draft.type}-${number}`,
    firstSentAt: null,
    callBy: null,
    lookups: 0,
    nextLookupAt: null,
    failureCode: null,
    failureMessage: null,
    commandId: draft.commandId ?? id,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}
