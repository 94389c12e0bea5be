/** What a delivery that has not ended waits for. */
export type WaitingReason = 'queued' | 'endpoint_paused' | 'endpoint_failing' | 'back_off' | 'ordered' | 'rate_limit' | 'retry_after';

export interface WaitingDelivery {
  status: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  attempts: number;
  nextAttemptAt: Date | null;
  /** An earlier event of the same object waits at an endpoint that wants them in sequence. */
  heldBack: boolean;
  endpoint: {
    status: 'enabled' | 'paused' | 'disabled';
    consecutiveFailures: number;
    /** First moment at which its own rate allows another post. */
    rateFreeAt: Date | null;
    /** Until when its receiver asked to be left alone. */
    heldUntil: Date | null;
  };
}

/** From here on an endpoint gets one delivery at a time, and fresh ones wait for its next retry. */
export const failuresToSlowDown = 3;

/** Why a delivery waits now; null when it does not. */
export function waitingReason({ status, attempts, nextAttemptAt, heldBack, endpoint }: WaitingDelivery, now: Date): WaitingReason | null {
  if (status !== 'pending') return null;
  if (endpoint.status === 'paused') return 'endpoint_paused';
  if (endpoint.heldUntil && endpoint.heldUntil > now) return 'retry_after';
  if (heldBack) return 'ordered';
  if (nextAttemptAt === null || nextAttemptAt <= now) return endpoint.rateFreeAt && endpoint.rateFreeAt > now ? 'rate_limit' : 'queued';
  if (attempts > 0) return 'back_off';
  return endpoint.consecutiveFailures >= failuresToSlowDown ? 'endpoint_failing' : 'queued';
}

/** Scheduled attempts that a delivery still has. */
export function attemptsLeft({ status, attempts }: Pick<WaitingDelivery, 'status' | 'attempts'>, schedule: readonly number[]): number {
  return status === 'pending' ? Math.max(0, schedule.length - attempts) : 0;
}
