/** Every outcome that can be asked of the simulator, and what it does. The room's README shows this table. */
export const simulatorOutcomes = {
  approved: 'approved at once',
  do_not_honor: 'declined',
  issuer_unavailable: 'declined',
  velocity_exceeded: 'declined',
  insufficient_funds: 'declined',
  lost_card: 'declined',
  stolen_card: 'declined',
  expired_card: 'declined',
  incorrect_cvc: 'declined',
  suspected_fraud: 'refused by the fraud engine',
  authentication_required: 'declined until the customer is present',
  challenge: 'the customer must answer a challenge, then approved; declined with authentication_required if absent',
  pending_then_approved: 'pending, approved after the settle time',
  pending_then_declined: 'pending, declined after the settle time',
  partial_approval: 'half of the amount approved',
  processing_error: 'refused, nothing created',
  misconfigured: 'refused with 401, nothing created',
  rate_limited: 'refused with 429, nothing created',
  connection_refused: 'the adapter dials a closed port: no byte is sent',
  delay_5s: 'approved, answered after 5 s',
  timeout_before_charge: 'never answered, nothing created',
  timeout_after_charge: 'approved, never answered',
  error_before_charge: '500, nothing created',
  error_after_charge: 'approved, answered with 500',
  malformed_answer: 'approved, answered with something that is not JSON',
  duplicate_callback: 'approved; its callback comes twice',
  late_callback: 'pending, approved after the settle time; its callback comes late',
  reordered_callbacks: 'pending, approved after the settle time; its callbacks come in the wrong order',
  disputed: 'approved, disputed after the settle time',
} as const;

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
