/** What a person's draft is when it is finalised. Amounts in atoms. */
export interface FinalisedDraft {
  totalAtom: number;
  collectionMethod: string;
  /** Days until it is due; where it is sent, 30 unless given. */
  netD: number | null;
}

export interface Finalisation {
  status: 'open' | 'paid';
  /** Without what is carried. */
  totalAtom: number;
  /** Put off to the next invoice, because no processor takes so little. */
  carriedAtom: number;
  appliedBalanceAtom: number;
  /** Given to the customer's credit by a negative total. */
  creditedAtom: number;
  dueAtom: number;
  finalizedAt: Date;
  paidAt: Date | null;
  dueDate: Date;
}

const dayMs = 86_400_000;
export const defaultNetD = 30;
/** As published; says nothing to a customer. */
export const defaultDescription = 'Manual creation of invoice';

export interface FinalisationFacts {
  /** The customer's credit, positive. */
  balanceAtom: number;
  /** The least amount that can be charged. */
  minimumAtom: number;
  at: Date;
}

/**
 * Credit pays first; a negative total becomes credit, never money out; an amount under the minimum is carried to the next
 * invoice, as those of subscriptions are; what leaves nothing due is paid at once.
 */
export function planFinalisation(draft: FinalisedDraft, { balanceAtom, minimumAtom, at }: FinalisationFacts): Finalisation {
  const appliedBalanceAtom = Math.min(Math.max(balanceAtom, 0), Math.max(draft.totalAtom, 0));
  const restAtom = Math.max(draft.totalAtom, 0) - appliedBalanceAtom;
  const carriedAtom = restAtom < minimumAtom ? restAtom : 0;
  const dueAtom = restAtom - carriedAtom;
  return {
    status: dueAtom === 0 ? 'paid' : 'open',
    totalAtom: draft.totalAtom - carriedAtom,
    carriedAtom,
    appliedBalanceAtom,
    creditedAtom: Math.max(-draft.totalAtom, 0),
    dueAtom,
    finalizedAt: at,
    paidAt: dueAtom === 0 ? at : null,
    dueDate: dueDateOf(draft, at),
  };
}

export function dueDateOf({ collectionMethod, netD }: Pick<FinalisedDraft, 'collectionMethod' | 'netD'>, at: Date): Date {
  return new Date(at.getTime() + (collectionMethod === 'send_invoice' ? (netD ?? defaultNetD) : 0) * dayMs);
}
