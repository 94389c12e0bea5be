export const linkModes = ['payment', 'setup', 'subscription'] as const;
export type LinkMode = (typeof linkModes)[number];

/** Why a link takes no payments: `declines`, it paused itself; `request`, somebody switched it off. */
export type InactiveReason = 'declines' | 'request';

export const longestLink = 100;
export const largestQuantity = 1_000_000;

export interface PricedLine {
  quantity: number;
  unitAmountAtom: number;
  /** Units sold together: the quantity is divided by it and rounded up. */
  divideBy: number;
}

/** What a line costs, in atoms. */
export function lineAmount({ quantity, unitAmountAtom, divideBy }: PricedLine): number {
  return Math.ceil(quantity / divideBy) * unitAmountAtom;
}

/** What a visitor pays, in atoms; null if it is not a whole number that JSON holds exactly. */
export function linkTotal(lines: readonly PricedLine[]): number | null {
  const total = lines.reduce((sum, line) => sum + lineAmount(line), 0);
  return Number.isSafeInteger(total) ? total : null;
}
