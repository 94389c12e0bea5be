import type { DeclineCode } from '../../errors/catalogue.js';
import type { OutcomeClass } from './outcome.js';
import type { IntentStatus } from './payment-status.js';

/**
 * Where a payment stands after `advancePayment`. Ids are database ids (UUIDs); times RFC 3339 UTC.
 *
 * - `final`: no work is left. `succeeded`, `canceled`, `exception`, or at rest in `requires_payment_method` /
 *   `requires_confirmation`, with no unresolved attempt, money operation or callback.
 * - `waiting`: something outside must happen first (lookup, customer, capture); ask again at `nextAt`, or when woken if null.
 * - `busy`: another process holds the payment's lease; ask again at `nextAt`.
 */
export interface AdvanceResult {
  state: 'final' | 'waiting' | 'busy';
  status: IntentStatus;
  /** It waits for a stop of new charges to be lifted. */
  stopped?: true;
  /** Class of the latest attempt, absent when there was none. */
  outcomeClass?: OutcomeClass;
  /** Normalised decline code of the latest refused attempt. `no_processor_available` when no attempt could begin. */
  declineCode?: DeclineCode | 'no_processor_available' | null;
  /** The latest attempt. */
  chargeId?: string | null;
  nextAt?: string | null;
  customerId?: string;
  invoiceId?: string | null;
  subscriptionId?: string | null;
}
