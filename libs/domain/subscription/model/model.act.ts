/** What happens to a subscription in a history; amounts in atoms, times in ms, ids of methods by name. */
export type Answer = 'approved' | 'soft_decline' | 'insufficient_funds' | 'hard_decline' | 'authentication_required' | 'risk_refused';
export type Outcome = Answer | 'unresolved';

export interface Sold {
  unitAtom: number;
  quantity: number;
}

export interface Beginning {
  /** ms since 1970. */
  now: number;
  unit: 'day' | 'week' | 'month' | 'year';
  count: number;
  sold: Sold[];
  /** From now; negative: in the past. */
  startsIn: number | null;
  trialDays: number;
  withoutMethod: 'pause' | 'cancel';
  byInvoice: boolean;
  netDays: number | null;
  dunning: { retryHours: number[]; endsAfterHours: number | null; finalAction: 'cancel' | 'pause' | 'leave_unpaid' };
  /** Days before a renewal at which it is announced; 0: never. */
  announceDays: number;
  cycles: number | null;
  method: string | null;
  balanceAtom: number;
  /** What the attempts are answered, in their order; approved when they run out. */
  outcomes: Outcome[];
  /** What each attempt with a method is answered; else `outcomes` say it. */
  answers?: Record<string, Outcome>;
  /** Between a renewal and its charge. */
  jitterSeconds: number;
}

export type Act =
  | { does: 'wait'; ms: number }
  | { does: 'pause' }
  | { does: 'pauseFor'; ms: number }
  | { does: 'pauseCycles'; cycles: number }
  | { does: 'resume'; free: boolean }
  | { does: 'cancel'; voids: boolean; refunds: boolean; prorates: boolean }
  | { does: 'cancelAtEnd'; set: boolean }
  | { does: 'endTrial' }
  | { does: 'moveTrialEnd'; ms: number }
  | { does: 'method'; method: string | null }
  | { does: 'answer'; outcome: Answer }
  | { does: 'byHand'; which: number; to: 'paid' | 'void' }
  | { does: 'items'; changes: ItemAct[]; how: 'create_prorations' | 'always_invoice' | 'none' };

/** One wish of a change of items; items by their place, counted on from the first. */
export type ItemAct =
  | { kind: 'add'; sold: Sold }
  | { kind: 'change'; item: number; quantity: number; unitAtom: number | null }
  | { kind: 'remove'; item: number };

export interface SeenInvoice {
  start: number;
  end: number;
  totalAtom: number;
  dueAtom: number;
  paidAtom: number;
  status: string;
}

/** All that a customer and a merchant can see of a subscription. */
export interface Seen {
  status: string;
  billing: string | null;
  start: number;
  end: number;
  invoices: SeenInvoice[];
  attempts: { at: number; invoice: number }[];
  balanceAtom: number;
  refundedAtom: number;
  told: string[];
}

export interface Subject {
  /** Answers null, or the code of the refusal. */
  perform(act: Act): string | null;
  seen(): Seen;
}
