import type { OutcomeClass } from '../payment/outcome.js';
import { outcomeRules } from '../payment/outcome.rules.js';

/** A charge as our database has it. Amounts in atoms. */
export interface OurSide {
  status: 'pending' | 'succeeded' | 'failed';
  amountAtom: number;
  currency: string;
  capturedAtom: number;
  /** Refunds that the processor made. */
  refundedAtom: number;
  voided: boolean;
  disputed: boolean;
  /** An attempt, capture, void or refund has no outcome yet. */
  unresolved: boolean;
}

/** The same charge as its processor shows it. */
export interface TheirSide {
  amountAtom: number | null;
  currency: string;
  outcomeClass: OutcomeClass;
  capturedAtom: number;
  refundedAtom: number;
  voided: boolean;
  disputed: boolean;
}

/** Both sides tell the same story: nothing is to be done. */
export function agrees(ours: OurSide, theirs: TheirSide): boolean {
  if (ours.unresolved || claims(ours, theirs).length > 0) return false;
  const sameEnd = ours.status === 'succeeded' ? theirs.outcomeClass === 'approved' || theirs.voided : theirs.outcomeClass !== 'approved' || theirs.voided;
  const sameSums = ours.capturedAtom === theirs.capturedAtom && ours.refundedAtom === theirs.refundedAtom;
  const sameMarks = ours.disputed === theirs.disputed && (ours.voided || !theirs.voided || ours.status === 'failed');
  return sameEnd && sameSums && sameMarks;
}

/** What we say happened and the processor does not, in words; empty where it may only know more than we do. */
export function claims(ours: OurSide, theirs: TheirSide): string[] {
  const found: string[] = [];
  if (theirs.amountAtom !== null && theirs.amountAtom !== ours.amountAtom) found.push(`amount ${ours.amountAtom} here, ${theirs.amountAtom} there`);
  if (theirs.currency !== ours.currency) found.push(`currency ${ours.currency} here, ${theirs.currency} there`);
  if (ours.status !== 'succeeded') return found;
  const refused = outcomeRules[theirs.outcomeClass].charge === 'failed' && !theirs.voided;
  if (refused) found.push(`succeeded here, ${theirs.outcomeClass} there`);
  if (ours.capturedAtom > theirs.capturedAtom && !theirs.voided) found.push(`captured ${ours.capturedAtom} here, ${theirs.capturedAtom} there`);
  if (ours.refundedAtom > theirs.refundedAtom && !theirs.voided) found.push(`refunded ${ours.refundedAtom} here, ${theirs.refundedAtom} there`);
  if (ours.voided && !theirs.voided && theirs.outcomeClass === 'approved') found.push('voided here, not there');
  return found;
}

/** The intent's and the attempt's part of a reference that this service made; null for a foreign one. */
export function parseReference(reference: string, marker: string): { intent: string; attempt: number } | null {
  const match = /^((?:pi|sub|inv)_([a-z]+)_[0-9a-z]{26}(?::\d{1,12}){0,2})-(\d{1,6})$/.exec(reference);
  return match && match[2] === marker ? { intent: match[1]!, attempt: Number(match[3]) } : null;
}
