export const toldRefundStatuses = ['pending', 'succeeded', 'failed'] as const;
export type ToldRefundStatus = (typeof toldRefundStatuses)[number];

export const disputeStatuses = ['open', 'won', 'lost'] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

/** A refund that was made may still come back (the card is closed), one that failed is never made: so the later word wins. */
const refundRank: Record<ToldRefundStatus, number> = { pending: 0, succeeded: 1, failed: 2 };

/** A dispute that was won may be opened again by the scheme and lost; one that is lost stays lost. */
const disputeRank: Record<DisputeStatus, number> = { open: 0, won: 1, lost: 2 };

/** Whether what a processor tells of a refund is later than what is known, whatever the order it is told in. */
export function isLaterRefund(told: ToldRefundStatus, known: ToldRefundStatus): boolean {
  return refundRank[told] > refundRank[known];
}

export function isLaterDispute(told: DisputeStatus, known: DisputeStatus): boolean {
  return disputeRank[told] > disputeRank[known];
}

/** Whether a charge counts as disputed: the money is contested or gone. */
export function countsAsDisputed(statuses: readonly DisputeStatus[]): boolean {
  return statuses.some((status) => status !== 'won');
}
