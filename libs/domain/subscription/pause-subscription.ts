import { DomainError, invalidField } from '../../errors/domain-error.js';
import { secondsBetween } from '../period/period.js';
import { plan, type Facts, type Plan } from './plan.js';
import { assertMayMove, mayMove, moved, refusedMove } from './subscription.machine.js';
import { resumptionAfter, type SubscriptionState } from './subscription.state.js';

/** Absent fields stay as they are; null clears. */
export interface PauseInput {
  cycles?: number | null;
  resumesAt?: Date | null;
}

/**
 * Pause now (keeping the time that is left), at the period's end for some cycles, or change a pause.
 * Returns null when nothing changes.
 */
export function planPause(s: SubscriptionState, input: PauseInput, facts: Facts): Plan | null {
  checkInput(input, facts.now);
  if (s.status === 'paused') return planPauseAgain(s, input);
  if (input.cycles != null) return planPauseForCycles(s, input.cycles);
  assertMayMove(s, 'pause');
  const end = s.billingStatus === 'scheduled' ? s.initialStart : s.currentPeriodEnd;
  const next: SubscriptionState = {
    ...s,
    status: 'paused',
    pauseAtEnd: false,
    pauseForCycles: null,
    pausedAt: facts.now,
    resumesAt: input.resumesAt ?? null,
    keptTime: { from: s.status === 'trialing' ? 'trialing' : 'active', seconds: secondsBetween(facts.now, end) },
  };
  return plan(moved(s, 'pause', next), ['paused']);
}

function checkInput(input: PauseInput, now: Date): void {
  if (input.cycles != null && input.resumesAt != null) {
    throw new DomainError('invalid_request', 'Give number_of_billing_cycles_to_skip or resumption_date, not both.', {
      errors: ['number_of_billing_cycles_to_skip', 'resumption_date'].map((field) => ({
        loc: ['body', field],
        msg: 'only one of number_of_billing_cycles_to_skip and resumption_date may be given',
        type: 'value_error',
      })),
    });
  }
  if (input.cycles != null && input.cycles < 1) throw invalidField('number_of_billing_cycles_to_skip', 'must be at least 1');
  if (input.resumesAt != null && input.resumesAt <= now) throw invalidField('resumption_date', 'must be in the future');
}

function planPauseForCycles(s: SubscriptionState, cycles: number): Plan | null {
  assertMayMove(s, 'pause_at_end');
  if (s.cancelAtEnd) throw refusedMove(s, 'pause_at_end', 'The subscription is set to cancel at its period end, which wins over a pause there.');
  if (s.pauseAtEnd && s.pauseForCycles === cycles) return null;
  const next: SubscriptionState = { ...s, pauseAtEnd: true, pauseForCycles: cycles, resumesAt: resumptionAfter(s, cycles) };
  return plan(moved(s, 'pause_at_end', next), ['updated']);
}

function planPauseAgain(s: SubscriptionState, input: PauseInput): Plan | null {
  if (!mayMove(s, 'pause_again')) throw refusedMove(s, 'pause_again');
  if (input.cycles != null) throw refusedMove(s, 'pause_again', 'The subscription is paused already; cycles are counted from a running period.');
  const resumesAt = input.resumesAt === undefined ? s.resumesAt : input.resumesAt;
  if (resumesAt?.getTime() === s.resumesAt?.getTime()) return null;
  return plan(moved(s, 'pause_again', { ...s, resumesAt }), ['updated']);
}
