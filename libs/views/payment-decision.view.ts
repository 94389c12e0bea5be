import type { Environment } from '../domain/environment.js';
import type { RouteDecision, SkipReason } from '../domain/route/route.decision.js';
import { publicId } from './ids.js';

export interface DecidedCharge {
  id: string;
  attemptNumber: number;
  processorId: string;
  outcomeClass: string | null;
  declineCode: string | null;
  retryAdvice: string | null;
  decision: Record<string, unknown>;
}

interface Around {
  /** By UUID of the connection. */
  names: ReadonlyMap<string, { name: string }>;
  environment: Environment;
}

type Stored = Partial<RouteDecision> & { route_id?: string | null; version?: number | null; fallback_reason?: string | null };

/** One entry per attempt; one without a charge where no attempt could begin. */
export function explainPayment(
  intent: { decision: Record<string, unknown> | null; declineCode: string | null; stoppedAt: Date | null },
  charges: readonly DecidedCharge[],
  { names, environment }: Around,
) {
  const attempts = charges.map((charge) => {
    const stored = charge.decision as Stored;
    const name = names.get(charge.processorId)?.name ?? null;
    return {
      charge_id: publicId('ch', environment, charge.id) as string | null,
      attempt_number: charge.attemptNumber as number | null,
      processor_id: publicId('processor', environment, charge.processorId) as string | null,
      processor_name: name,
      outcome_class: charge.outcomeClass,
      decline_code: charge.declineCode,
      ...common(stored),
      reason: sentences(stored, `Sent to ${name ?? 'a connection'}`, charge),
    };
  });
  const stopped = intent.stoppedAt !== null || intent.declineCode === 'charging_stopped';
  if (!stopped && intent.declineCode !== 'no_processor_available') return attempts;
  const stored = (intent.decision ?? {}) as Stored;
  const reason = stopped ? 'No attempt: new charges are stopped' : stored.route_id ? 'No attempt: no connection of the route can take this payment' : 'No attempt: no route leads this payment';
  const none = { charge_id: null, attempt_number: null, processor_id: null, processor_name: null, outcome_class: null, decline_code: intent.declineCode };
  return [...attempts, { ...none, ...common(stored), reason: sentences(stored, reason, null) }];
}

const skipWords: Record<SkipReason, string> = {
  unknown_connection: 'there is no such connection',
  not_supported_here: 'its kind does not exist in this environment',
  disabled: 'it is disabled',
  stopped: 'new charges there are stopped',
  no_mapping: 'it does not know the payment method',
  no_stored_credential: 'it may not use the payment method without the customer',
  scheme_limit: 'the card scheme allows no more attempts with this card for now',
  never_again: 'the card scheme forbids every further attempt with this card',
  set_aside: 'its calls fail or take too long, so it is set aside',
};

const triedWords = { probe: 'to find out whether it works again', all_are_set_aside: 'because nothing else is left' };

function common(stored: Stored) {
  return {
    route_id: stored.route_id ?? null,
    route_version: stored.version ?? null,
    rule: stored.rule ?? null,
    strategy: stored.strategy ?? null,
    candidates: stored.candidates ?? [],
    order: stored.order ?? [],
    skipped: stored.skipped ?? [],
    set_aside: stored.set_aside ?? [],
  };
}

function sentences(stored: Stored, first: string, charge: DecidedCharge | null): string {
  const rule = stored.route_id ? (stored.rule ? ` by rule "${stored.rule}"` : ' by the route\'s default') : '';
  const skipped = (stored.skipped ?? []).map(({ processor_id, reason }) => `${processor_id} skipped: ${skipWords[reason]}`);
  const tried = (stored.set_aside ?? []).flatMap((each) =>
    each.tried === 'no' ? [] : [`${each.processor_id} kept although it is set aside: ${triedWords[each.tried]}`],
  );
  return [
    `${first}${rule}${stored.strategy ? ` (${stored.strategy})` : ''}`,
    stored.fallback_reason ? `as fallback after ${stored.fallback_reason}` : null,
    charge?.outcomeClass ? `outcome ${charge.outcomeClass.replaceAll('_', ' ')}` : null,
    charge?.retryAdvice === 'never' ? skipWords.never_again : null,
    ...skipped,
    ...tried,
  ]
    .filter((part) => part !== null)
    .join('; ');
}
