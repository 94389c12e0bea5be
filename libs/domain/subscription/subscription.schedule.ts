import { dunningEndsAt, mayRemind, incompleteEndsAt, trialWillEndMs } from './dunning.js';
import { upcomingAt } from './next-invoice.js';
import { isInTrial, isLastCycle, type SubscriptionState } from './subscription.state.js';

export const dueKinds = ['start', 'trial_will_end', 'trial_end', 'upcoming', 'renew', 'remind', 'charge', 'expire', 'dunning_end', 'resume'] as const;
export type DueKind = (typeof dueKinds)[number];

export interface Due {
  kind: DueKind;
  at: Date;
}

/** What is due next by itself, the earliest first; null when only a command or a payment's outcome can move it. */
export function nextDue(s: SubscriptionState): Due | null {
  let next: Due | null = null;
  for (const due of candidates(s)) if (next === null || due.at < next.at) next = due;
  return next;
}

function candidates(s: SubscriptionState): Due[] {
  if (s.status === 'cancelled') return [];
  if (s.status === 'paused') return pausedCandidates(s);
  if (s.billingStatus === 'scheduled') return [{ kind: 'start', at: s.initialStart }];
  const unresolved = s.chargingInvoiceId !== null;
  const list: Due[] = [];
  if (s.status === 'trialing') {
    if (isInTrial(s)) {
      if (s.trialWillEndSentAt === null && !s.cancelAtEnd && s.trialEnd) {
        list.push({ kind: 'trial_will_end', at: new Date(s.trialEnd.getTime() - trialWillEndMs) });
      }
      list.push({ kind: 'trial_end', at: s.currentPeriodEnd });
    } else if (s.billingStatus === 'incomplete' && !unresolved) {
      list.push({ kind: 'expire', at: incompleteEndsAt(s) });
    }
  }
  if (s.status === 'active' && !(unresolved && (s.cancelAtEnd || s.pauseAtEnd || isLastCycle(s)))) {
    list.push({ kind: 'renew', at: s.currentPeriodEnd });
  }
  const announced = upcomingAt(s);
  if (announced) list.push({ kind: 'upcoming', at: announced });
  if (s.remindAt && mayRemind(s)) list.push({ kind: 'remind', at: s.remindAt });
  if (unresolved) return list;
  if (s.chargeAt) list.push({ kind: 'charge', at: s.chargeAt });
  else if (s.dunning && s.billingStatus === 'past_due') list.push({ kind: 'dunning_end', at: dunningEndsAt(s.dunning) });
  return list;
}

function pausedCandidates(s: SubscriptionState): Due[] {
  if (s.resuming && s.chargingInvoiceId !== null) return [];
  const resume: Due[] = s.resumesAt ? [{ kind: 'resume', at: s.resumesAt }] : [];
  return s.resuming && s.chargeAt ? [{ kind: 'charge', at: s.chargeAt }, ...resume] : resume;
}
