/** What a person's draft is when it is finalised. Amounts in atoms. */
export interface FinalisedDraft {
  totalAtom: number;
  collectionMethod: string;
  /** Days until it is due; where it is sent, 30 unless given. */
  netD: number | null;
}

export interface Finalisation {
  status: 'open' | 'paid';
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

/** Credit pays first; a negative total becomes credit, never money out; what leaves nothing due is paid at once. */
export function planFinalisation(draft: FinalisedDraft, { balanceAtom, at }: { balanceAtom: number; at: Date }): Finalisation {
  const appliedBalanceAtom = Math.min(Math.max(balanceAtom, 0), Math.max(draft.totalAtom, 0));
  const dueAtom = Math.max(draft.totalAtom, 0) - appliedBalanceAtom;
  return {
    status: dueAtom === 0 ? 'paid' : 'open',
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
