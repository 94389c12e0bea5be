import type { EmailFacts, EmailKind } from '../domain/email/email.js';

const asksForMoney: readonly EmailKind[] = ['invoice', 'payment_failed', 'action_needed', 'reminder'];

/** Why a mail that waited would be wrong by now, for example because its invoice was paid meanwhile; null where it is not. */
export function outdatedReason(kind: EmailKind, facts: EmailFacts): string | null {
  const { invoice } = facts;
  if (kind === 'trial_ending') return outdatedTrial(facts);
  if (!invoice) return 'outdated: the invoice is gone.';
  if (kind === 'receipt') return invoice.status === 'paid' ? null : `outdated: the invoice is ${invoice.status}.`;
  const paid = invoice.status === 'paid' && kind !== 'invoice';
  return asksForMoney.includes(kind) && (paid || invoice.status === 'void') ? `outdated: the invoice is ${invoice.status}.` : null;
}

function outdatedTrial({ subscription, told }: EmailFacts): string | null {
  if (!subscription || subscription.status === 'cancelled') return 'outdated: the subscription was cancelled.';
  if (subscription.status !== 'trialing') return `outdated: the subscription is ${subscription.status}.`;
  const isMoved = told.trialEnd !== null && subscription.trialEnd?.toISOString() !== told.trialEnd;
  return isMoved ? 'outdated: the trial ends at another time.' : null;
}
