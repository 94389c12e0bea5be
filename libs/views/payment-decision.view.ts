import type { Environment } from '../domain/environment.js';
import type { RouteDecision } from '../domain/route/route.decision.js';
import { publicId } from './ids.js';

export interface DecidedCharge {
  id: string;
  attemptNumber: number;
  processorId: string;
  outcomeClass: string | null;
  declineCode: string | null;
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
  intent: { decision: Record<string, unknown> | null; declineCode: string | null },
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
      reason: sentences(stored, `Sent to ${name ?? 'a connection'}`, charge.outcomeClass),
    };
  });
  if (charges.length > 0 || intent.declineCode !== 'no_processor_available') return attempts;
  const stored = (intent.decision ?? {}) as Stored;
  const reason = stored.route_id ? 'No attempt: no connection of the route can take this payment' : 'No attempt: no route leads this payment';
  const none = { charge_id: null, attempt_number: null, processor_id: null, processor_name: null, outcome_class: null, decline_code: intent.declineCode };
  return [{ ...none, ...common(stored), reason: sentences(stored, reason, null) }];
}

function common(stored: Stored) {
  return {
    route_id: stored.route_id ?? null,
    route_version: stored.version ?? null,
    rule: stored.rule ?? null,
    strategy: stored.strategy ?? null,
    candidates: stored.candidates ?? [],
    order: stored.order ?? [],
    skipped: stored.skipped ?? [],
  };
}

function sentences(stored: Stored, first: string, outcomeClass: string | null): string {
  const rule = stored.route_id ? (stored.rule ? ` by rule "${stored.rule}"` : ' by the route\'s default') : '';
  const skipped = (stored.skipped ?? []).map(({ processor_id, reason }) => `${processor_id} skipped: ${reason.replaceAll('_', ' ')}`);
  return [
    `${first}${rule}${stored.strategy ? ` (${stored.strategy})` : ''}`,
    stored.fallback_reason ? `as fallback after ${stored.fallback_reason}` : null,
    outcomeClass ? `outcome ${outcomeClass.replaceAll('_', ' ')}` : null,
    ...skipped,
  ]
    .filter((part) => part !== null)
    .join('; ');
}
