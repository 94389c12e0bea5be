import { DomainError, invalidField } from '../../errors/domain-error.js';
import { planTrialEnd } from './begin-subscription.js';
import { planChangeItems } from './change-items.js';
import type { DunningPolicy } from './dunning-policy.js';
import { itemsAfter, type ItemInput, type ProrationBehavior } from './item-changes.js';
import { plan, type Facts, type Plan } from './plan.js';
import { assertMayMove, moved, refusedMove } from './subscription.machine.js';
import { hasFixedAnchor, isInTrial, resumptionAfter, type SubscriptionState } from './subscription.state.js';

/** Absent fields stay as they are; null clears. Ids are UUIDs. */
export interface UpdateInput {
  description?: string | null;
  customFields?: Record<string, unknown> | null;
  defaultPaymentMethodId?: string | null;
  paymentRouteId?: string | null;
  cancelAtEnd?: boolean;
  /** Null: the account's. A run that is under way keeps its own. */
  dunningPolicy?: DunningPolicy | null;
  /** A new end of the trial; `now` ends it. */
  trialEnd?: Date | 'now';
  collectionMethod?: SubscriptionState['collectionMethod'];
  netD?: number | null;
  items?: ItemInput[];
  proration?: ProrationBehavior;
}

/** Items first, then the rest on top of them; one fact. Returns null when nothing changes. */
export function planUpdate(s: SubscriptionState, input: UpdateInput, facts: Facts): Plan | null {
  assertMayMove(s, 'update');
  const { items = [], proration = 'create_prorations', ...fields } = input;
  const changed = items.length > 0 ? planChangeItems(s, { items, proration }, facts) : null;
  if (!changed) return planFields(s, fields, facts);
  const rest = planFields(changed.next, fields, { ...facts, items: itemsAfter(facts.items, changed.items) });
  if (!rest) return changed;
  const events = [...new Set([...changed.events, ...rest.events])];
  return { ...rest, events, invoice: rest.invoice ?? changed.invoice, items: changed.items, pending: changed.pending };
}

function planFields(s: SubscriptionState, input: Omit<UpdateInput, 'items' | 'proration'>, facts: Facts): Plan | null {
  const { trialEnd, cancelAtEnd, ...fields } = input;
  const changed = withCancelAtEnd({ ...s, ...definedOnly(fields) }, cancelAtEnd);
  assertCollectable(s, changed, facts);
  if (trialEnd === 'now') return planEndTrial(changed, facts);
  const next = trialEnd === undefined ? changed : withTrialEnd(changed, trialEnd, facts.now);
  if (same(s, next)) return null;
  return plan(moved(s, 'update', next), ['updated']);
}

/** What is open was asked for in one way, and stays so. */
function assertCollectable(s: SubscriptionState, next: SubscriptionState, facts: Facts): void {
  if (next.collectionMethod === s.collectionMethod || (facts.openInvoices.length === 0 && s.chargingInvoiceId === null)) return;
  throw new DomainError('conflict', 'An invoice is open: it must be paid or voided before collection_method changes.');
}

function withCancelAtEnd(s: SubscriptionState, cancelAtEnd: boolean | undefined): SubscriptionState {
  if (cancelAtEnd === undefined || cancelAtEnd === s.cancelAtEnd) return s;
  assertMayMove(s, 'cancel_at_end');
  if (!cancelAtEnd) return { ...s, cancelAtEnd };
  return { ...s, cancelAtEnd, pauseAtEnd: false, pauseForCycles: null, resumesAt: null };
}

function withTrialEnd(s: SubscriptionState, trialEnd: Date, now: Date): SubscriptionState {
  if (s.billingStatus !== 'scheduled' && !isInTrial(s)) throw refusedMove(s, 'change_trial', 'The subscription is not in a trial.');
  assertMayMove(s, 'change_trial');
  const start = s.billingStatus === 'scheduled' ? s.initialStart : now;
  if (trialEnd <= start) throw invalidField('trial_end', 'must be in the future, after the start of the trial');
  const next: SubscriptionState = {
    ...s,
    trialStart: s.trialStart ?? s.initialStart,
    trialEnd,
    currentPeriodEnd: trialEnd,
    anchorAt: hasFixedAnchor(s) ? s.anchorAt : trialEnd,
    trialWillEndSentAt: null,
  };
  return next.pauseAtEnd ? { ...next, resumesAt: resumptionAfter(next, next.pauseForCycles ?? 1) } : next;
}

/** The trial is over now; what follows is what its end by time would have done. */
export function planEndTrial(s: SubscriptionState, facts: Facts): Plan {
  assertMayMove(s, 'end_trial');
  if (!isInTrial(s)) throw refusedMove(s, 'end_trial', 'The subscription is not in a trial.');
  const at = facts.now;
  return planTrialEnd({ ...s, trialEnd: at, currentPeriodEnd: at, anchorAt: hasFixedAnchor(s) ? s.anchorAt : at }, facts);
}

function definedOnly<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function same(a: SubscriptionState, b: SubscriptionState): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
