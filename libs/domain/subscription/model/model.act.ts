/** What happens to a subscription in a history; amounts in atoms, times in ms, ids of methods by name. */
export type Answer = 'approved' | 'soft_decline' | 'insufficient_funds' | 'hard_decline' | 'authentication_required' | 'risk_refused';
export type Outcome = Answer | 'unresolved';

export interface Sold {
  unitAtom: number;
  quantity: number;
}

/** How often a price is billed. */
export interface Rhythm {
  unit: 'day' | 'week' | 'month' | 'year';
  count: number;
}

export interface Beginning {
  /** ms since 1970. */
  now: number;
  unit: Rhythm['unit'];
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
  /** What was written off may still be paid. */
  | { does: 'byHand'; which: number; to: 'paid' | 'void' | 'uncollectible' }
  | { does: 'items'; changes: ItemAct[]; how: How }
  /** All that is sold, at a price for another interval. */
  | { does: 'interval'; rhythm: Rhythm; unitAtom: number; how: How };

export type How = 'create_prorations' | 'always_invoice' | 'none';

/** One wish of a change of items; items by their place, counted on from the first. Without a rhythm a price has that of its item, or of now. */
export type ItemAct =
  | { kind: 'add'; sold: Sold; rhythm?: Rhythm | null; nextPeriod: boolean }
  /** `nextPeriod`: it begins then; false: now. `ends`: with the period; false: it goes on. Null: as it is. */
  | { kind: 'change'; item: number; quantity: number; unitAtom: number | null; rhythm?: Rhythm | null; nextPeriod: boolean | null; ends: boolean | null }
  | { kind: 'remove'; item: number; atEnd: boolean };

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
