/** `numerator / denominator` in integers, a half to the even neighbour. Both may be negative or zero, not the denominator. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator < 0n) return divideHalfEven(-numerator, -denominator);
  let quotient = numerator / denominator;
  let remainder = numerator % denominator;
  if (remainder < 0n) {
    quotient -= 1n;
    remainder += denominator;
  }
  const twice = remainder * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n !== 0n);
  return up ? quotient + 1n : quotient;
}

/** The part of `amountAtom` for `part` of `whole` seconds. The rest is `amountAtom - prorate(...)`, so parts sum to the whole. */
export function prorate(amountAtom: number, part: number, whole: number): number {
  if (whole <= 0 || part <= 0) return 0;
  if (part >= whole) return amountAtom;
  return Number(divideHalfEven(BigInt(amountAtom) * BigInt(part), BigInt(whole)));
}
