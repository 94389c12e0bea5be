/**
 * Stripe's units in one of ours, where they differ: it counts these currencies in hundredths that do not exist.
 * Source: docs.stripe.com/currencies, special cases. All others are counted in the currency's smallest unit, as here.
 */
const factors: Record<string, number> = { ugx: 100, isk: 100 };

export function toStripe(amountAtom: number, currency: string): number {
  return amountAtom * (factors[currency] ?? 1);
}

/** Gives the named amounts of an object of Stripe's in atoms. */
export function inAtoms<T extends { currency: string }>(told: T, names: readonly (keyof T)[]): T {
  const factor = factors[told.currency];
  if (factor === undefined) return told;
  return { ...told, ...Object.fromEntries(names.map((name) => [name, (told[name] as number) / factor])) };
}
