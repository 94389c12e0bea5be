import type { EmailFacts, EmailKind } from '../domain/email/email.js';

const asksForMoney: readonly EmailKind[] = ['invoice', 'payment_failed', 'action_needed', 'reminder'];

/** Why a mail that waited would be wrong by now, for example because its invoice was paid meanwhile; null where it is not. */
export function outdatedReason(kind: EmailKind, { invoice, subscription }: EmailFacts): string | null {
  if (kind === 'trial_ending') return subscription && subscription.status !== 'cancelled' ? null : 'outdated: the subscription was cancelled.';
  if (!invoice) return 'outdated: the invoice is gone.';
  const paid = invoice.status === 'paid' && kind !== 'invoice';
  return asksForMoney.includes(kind) && (paid || invoice.status === 'void') ? `outdated: the invoice is ${invoice.status}.` : null;
}
