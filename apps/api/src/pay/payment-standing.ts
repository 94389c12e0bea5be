import type { TryState } from '../../../../libs/db/payment-link-attempt.writes.js';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';

/** Why a form is not to be sent now; a challenge may still be left for another card. */
export type Underway = { kind: 'waiting'; long: boolean } | { kind: 'challenge'; url: string };

/** So long after its start a try may still be on its way to the processor. */
const onItsWayMs = 30_000;
const longMs = 60_000;

/** How a payment that is not over stands for its visitor; null where a card may be sent. */
export function underwayOf(intent: PaymentIntentRow | null, tries: TryState): Underway | null {
  const now = Date.now();
  switch (intent?.status) {
    case 'processing':
    case 'exception':
    case 'succeeded':
      return { kind: 'waiting', long: now - intent.updatedAt.getTime() > longMs };
    case 'requires_action':
      return intent.redirectUrl && isWebAddress(intent.redirectUrl) ? { kind: 'challenge', url: intent.redirectUrl } : { kind: 'waiting', long: false };
  }
  const onItsWay = tries.latest?.outcome === 'started' && now - tries.latest.createdAt.getTime() < onItsWayMs;
  return onItsWay ? { kind: 'waiting', long: false } : null;
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
