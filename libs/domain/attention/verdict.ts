import type { OutcomeClass } from '../payment/outcome.js';
import type { AttentionAction } from './attention.actions.js';

/** What the processor says of the attempt, asked just now. */
export type Sight =
  | { found: 'yes'; outcomeClass: OutcomeClass; capturedAtom: number; refundedAtom: number; voided: boolean }
  /** `certain`: its reads show every call that took effect. */
  | { found: 'absent'; certain: boolean }
  | { found: 'unknown' };

export type Judgement =
  /** What the processor says is handed in. */
  | { take: 'processor' }
  /** What the person says is handed in. */
  | { take: 'person'; outcomeClass: 'approved' | 'processor_error' }
  | { take: 'void' }
  | { take: 'refund'; amountAtom: number }
  /** Nothing was learned: the line stays. */
  | { take: 'nothing'; because: string }
  /** The wish contradicts what the processor says. */
  | { take: 'refuse'; because: string };

const undecided: readonly OutcomeClass[] = ['unknown', 'pending', 'action_required'];

/** Whether a person's wish about a payment without outcome may be followed, given what its processor says. */
export function judge(action: AttentionAction, sight: Sight): Judgement {
  switch (action) {
    case 'look_again':
      return lookAgain(sight);
    case 'mark_succeeded':
      return markSucceeded(sight);
    case 'mark_failed':
      return markFailed(sight);
    case 'void':
      return giveBack(sight, 'void');
    case 'refund':
      return giveBack(sight, 'refund');
  }
}

function lookAgain(sight: Sight): Judgement {
  if (sight.found === 'unknown') return { take: 'nothing', because: 'The processor gave no clear answer.' };
  if (sight.found === 'absent') return { take: 'nothing', because: 'The processor does not know the attempt.' };
  if (sight.outcomeClass === 'mismatch') return { take: 'nothing', because: 'The processor holds a payment that differs from what was asked.' };
  if (sight.voided) return { take: 'processor' };
  return undecided.includes(sight.outcomeClass) ? { take: 'nothing', because: `The processor says ${sight.outcomeClass}.` } : { take: 'processor' };
}

function markSucceeded(sight: Sight): Judgement {
  if (sight.found === 'unknown') return { take: 'person', outcomeClass: 'approved' };
  if (sight.found === 'absent') {
    return sight.certain ? { take: 'refuse', because: 'The processor does not know this payment.' } : { take: 'person', outcomeClass: 'approved' };
  }
  if (sight.voided) return { take: 'refuse', because: 'The payment is voided at the processor.' };
  if (sight.outcomeClass === 'approved') return { take: 'processor' };
  return { take: 'refuse', because: `The processor says ${sight.outcomeClass}.` };
}

function markFailed(sight: Sight): Judgement {
  if (sight.found !== 'yes') return { take: 'person', outcomeClass: 'processor_error' };
  if (sight.voided) return { take: 'processor' };
  if (sight.outcomeClass === 'approved') return { take: 'refuse', because: 'The processor says that it was approved.' };
  if (sight.outcomeClass === 'mismatch') return { take: 'refuse', because: 'The processor holds a payment under this reference: void or refund it first.' };
  return undecided.includes(sight.outcomeClass)
    ? { take: 'refuse', because: `The processor says ${sight.outcomeClass}: it may still succeed.` }
    : { take: 'processor' };
}

function giveBack(sight: Sight, action: 'void' | 'refund'): Judgement {
  if (sight.found !== 'yes') return { take: 'refuse', because: 'The processor cannot be asked for what it does not show.' };
  const rest = sight.capturedAtom - sight.refundedAtom;
  if (sight.voided) return { take: 'refuse', because: 'It is voided already.' };
  if (action === 'refund') return rest > 0 ? { take: 'refund', amountAtom: rest } : { take: 'refuse', because: 'Nothing is captured that could be refunded.' };
  if (rest > 0) return { take: 'refuse', because: 'It is captured: refund it instead.' };
  const open = sight.outcomeClass === 'approved' || sight.outcomeClass === 'mismatch' || undecided.includes(sight.outcomeClass);
  return open ? { take: 'void' } : { take: 'refuse', because: `The processor says ${sight.outcomeClass}: nothing is authorised.` };
}
