import type { IntentStatus } from './payment-status.js';

export const intentMoves = ['confirm', 'approve', 'authorize', 'challenge', 'refuse', 'except', 'expire', 'cancel', 'capture'] as const;
export type IntentMove = (typeof intentMoves)[number];

export const initialIntentStatuses: readonly IntentStatus[] = ['requires_payment_method', 'requires_confirmation', 'processing'];

/** The only place that knows how a payment intent moves. A move that is not listed is refused. */
export const intentTable: Record<IntentStatus, Partial<Record<IntentMove, IntentStatus>>> = {
  // A success that the processor tells late still counts while the payment is open and unpaid.
  requires_payment_method: { confirm: 'processing', cancel: 'canceled', approve: 'succeeded', authorize: 'requires_capture' },
  requires_confirmation: { confirm: 'processing', cancel: 'canceled' },
  processing: {
    approve: 'succeeded',
    authorize: 'requires_capture',
    challenge: 'requires_action',
    refuse: 'requires_payment_method',
    except: 'exception',
    // Only while a stop of new charges keeps it from its first attempt.
    cancel: 'canceled',
  },
  requires_action: {
    confirm: 'processing',
    approve: 'succeeded',
    authorize: 'requires_capture',
    refuse: 'requires_payment_method',
    expire: 'requires_payment_method',
    cancel: 'canceled',
    except: 'exception',
  },
  requires_capture: { capture: 'succeeded', cancel: 'canceled', except: 'exception' },
  // What a person or a late answer may still find out.
  exception: {
    approve: 'succeeded',
    authorize: 'requires_capture',
    refuse: 'requires_payment_method',
    capture: 'succeeded',
    cancel: 'canceled',
  },
  succeeded: {},
  canceled: {},
};

/** The status after a move, or null where the table refuses it. */
export function moveIntent(from: IntentStatus, move: IntentMove): IntentStatus | null {
  return intentTable[from][move] ?? null;
}

export function allowedMoves(from: IntentStatus): IntentMove[] {
  return Object.keys(intentTable[from]) as IntentMove[];
}
