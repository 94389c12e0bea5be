import type { OutcomeClass } from '../../domain/payment/outcome.js';

interface Simulated {
  /** How the adapter reads the first answer. */
  answers: OutcomeClass;
  effect: string;
}

/** Every outcome that can be asked of the simulator, and what it does. `apps/simulator/README.md` shows this table. */
export const simulatorOutcomes = {
  approved: { answers: 'approved', effect: 'approved at once' },
  do_not_honor: { answers: 'soft_decline', effect: 'declined' },
  issuer_unavailable: { answers: 'soft_decline', effect: 'declined' },
  velocity_exceeded: { answers: 'soft_decline', effect: 'declined' },
  insufficient_funds: { answers: 'insufficient_funds', effect: 'declined' },
  lost_card: { answers: 'hard_decline', effect: 'declined' },
  stolen_card: { answers: 'hard_decline', effect: 'declined' },
  expired_card: { answers: 'hard_decline', effect: 'declined' },
  incorrect_cvc: { answers: 'soft_decline', effect: 'declined' },
  suspected_fraud: { answers: 'risk_refused', effect: 'refused by the fraud engine' },
  authentication_required: { answers: 'authentication_required', effect: 'declined until the customer is present' },
  challenge: { answers: 'action_required', effect: 'the customer must answer a challenge, then approved; declined with authentication_required if absent' },
  pending_then_approved: { answers: 'pending', effect: 'pending, approved after the settle time; a refund: accepted, made after it' },
  pending_then_declined: { answers: 'pending', effect: 'pending, declined after the settle time; a refund: accepted, failed after it' },
  partial_approval: { answers: 'partial_approval', effect: 'half of the amount approved' },
  processing_error: { answers: 'processor_error', effect: 'refused, nothing created' },
  misconfigured: { answers: 'processor_error', effect: 'refused with 401, nothing created' },
  rate_limited: { answers: 'processor_error', effect: 'refused with 429, nothing created' },
  connection_refused: { answers: 'not_sent', effect: 'the adapter dials a closed port: no byte is sent' },
  delay_5s: { answers: 'approved', effect: 'approved, answered after 5 s' },
  timeout_before_charge: { answers: 'unknown', effect: 'never answered, nothing created' },
  timeout_after_charge: { answers: 'unknown', effect: 'approved, never answered' },
  error_before_charge: { answers: 'unknown', effect: '500, nothing created' },
  error_after_charge: { answers: 'unknown', effect: 'approved, answered with 500' },
  malformed_answer: { answers: 'unknown', effect: 'approved, answered with something that is not JSON' },
  duplicate_callback: { answers: 'approved', effect: 'approved; a callback tells so, twice' },
  late_callback: { answers: 'pending', effect: 'pending, approved after the settle time; its callback comes three settle times later, after lookups' },
  reordered_callbacks: { answers: 'pending', effect: 'pending, approved after the settle time; the callback that tells pending comes last' },
  disputed: { answers: 'approved', effect: 'approved; a dispute is opened after the settle time' },
} as const satisfies Record<string, Simulated>;

export type SimulatorOutcome = keyof typeof simulatorOutcomes;

export const simulatorOutcomeNames = Object.keys(simulatorOutcomes) as SimulatorOutcome[];

export function isSimulatorOutcome(name: unknown): name is SimulatorOutcome {
  return typeof name === 'string' && Object.hasOwn(simulatorOutcomes, name);
}

/**
 * The outcome asked for by name, strongest first: the payment's own trigger (one name, or one per `processor_id`), then
 * the connection's `settings.outcome`. Null leaves it to the card. Unknown names pass: the simulator refuses them.
 */
export function askedOutcome(
  connection: { publicId: string; settings: Record<string, unknown> },
  simulate: string | Record<string, string> | null | undefined,
): string | null {
  const named = typeof simulate === 'string' ? simulate : simulate?.[connection.publicId];
  if (named) return named;
  return typeof connection.settings.outcome === 'string' ? connection.settings.outcome : null;
}
