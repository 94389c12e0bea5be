import type { Answer, Rhythm, Sold } from './model.act.js';
import type { Span } from './model.calendar.js';

export interface Item extends Sold {
  id: number;
  rhythm: Rhythm;
  /** Only from the next period on. */
  begins: boolean;
  /** Only to the end of this one. */
  ends: boolean;
}

export interface Bill extends Span {
  totalAtom: number;
  dueAtom: number;
  paidAtom: number;
  refundedAtom: number;
  /** What of the balance it used. */
  appliedAtom: number;
  /** What its negative total gave to the balance. */
  creditedAtom: number;
  /** Unused time of the period before that paid for it. */
  broughtAtom: number;
  status: 'draft' | 'open' | 'past_due' | 'paid' | 'void' | 'uncollectible';
  dueDate: number;
  remindedAt: number;
  byHand: boolean;
  refusal: Answer | null;
  /** For a change of items or the end. */
  isChange: boolean;
  /** For a period. */
  ofPeriod: boolean;
  /** Which of its periods it belongs to. */
  age: number;
}

/** One line, on a bill or waiting for the next. */
export interface Line extends Span {
  item: number;
  amountAtom: number;
  bill: Bill | null;
  /** The line that it gives back, or charges back. */
  of: Line | null;
  /** It waited before its bill took it in. */
  waited: boolean;
  dropped: boolean;
  age: number;
}

/** What is billed for a stretch of time: its seconds, out of those of the whole interval. */
export interface Stretch extends Span {
  seconds: number;
  outOf: number;
}

/** What an end gives back: to the balance, and as money of bills. */
export interface Back {
  creditAtom: number;
  refunds: { bill: Bill; amountAtom: number }[];
}

export function sum(lines: readonly Line[]): number {
  return lines.reduce((total, { amountAtom }) => total + amountAtom, 0);
}

/** What it gives back was paid, or waits as well and is billed together with it; a bill itself always has. */
export function hasGround({ of }: Line): boolean {
  return of === null || (of.bill === null ? !of.dropped : of.bill.status === 'paid');
}

export function isTogether(one: Line, other: Line): boolean {
  return one.bill === other.bill && one.start === other.start && one.end === other.end;
}

/** The same price. */
export function isOneOffer(one: Item, other: Item): boolean {
  return one.unitAtom === other.unitAtom && isOneRhythm(one.rhythm, other.rhythm);
}

export function isOneRhythm(one: Rhythm, other: Rhythm): boolean {
  return one.unit === other.unit && one.count === other.count;
}
