/** Issuers' refusals of one card, as counted for one payment method or for one mark of the card at one connection. */
export interface DeclineCount {
  /** In the last 24 hours. */
  day: number;
  /** In the last 30 days. */
  month: number;
  /** At any time the scheme forbade every further attempt (`never` of `network-advice.ts`). */
  never: boolean;
}

export type SchemeBlock = 'scheme_limit' | 'never_again';

export const noDeclines: DeclineCount = { day: 0, month: 0, never: false };

const limits: Record<string, Partial<Record<'day' | 'month', number>>> = {
  visa: { month: 20 },
  mastercard: { day: 10, month: 35 },
};

/**
 * Why the card scheme allows no attempt with this card now; null if it does. Every refusal by an issuer counts, whatever
 * the amount; what never reached it (`not_sent`, `processor_error`, `risk_refused`) does not. The schemes themselves count
 * equal amounts only, and Visa anew after an approval: this is never looser.
 * Sources: Visa Core Rules, table 7-2 (20 reattempts in 30 days since 2025, none after category 1), as told by
 * developers.tabapay.com/docs/excessive-retry-rules; Mastercard Transaction Processing Excellence (10 in 24 hours, 35 in
 * 30 days, none after merchant advice 03 and 21), as told by support.checkout.com, "When can I retry a declined transaction".
 */
export function schemeBlock(brand: string | null, count: DeclineCount): SchemeBlock | null {
  if (count.never) return 'never_again';
  const limit = limits[brand?.toLowerCase() ?? ''];
  if (!limit) return null;
  const reached = count.day >= (limit.day ?? Infinity) || count.month >= (limit.month ?? Infinity);
  return reached ? 'scheme_limit' : null;
}
