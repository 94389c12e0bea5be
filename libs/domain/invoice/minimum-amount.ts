/**
 * The least amount that Stripe charges, in atoms, by settlement in the same currency: the 24 rows of
 * https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts. A currency that is not listed has no known minimum, and
 * where the money is converted the one of the settlement currency holds: `settings.minimum_amounts` says so.
 */
const stripe: Record<string, number> = {
  aed: 200, aud: 50, bgn: 100, brl: 50, cad: 50, chf: 50, czk: 1_500, dkk: 250, eur: 50, gbp: 30, hkd: 400, huf: 17_500,
  inr: 50, jpy: 50, mxn: 1_000, myr: 200, nok: 300, nzd: 50, pln: 200, ron: 200, sek: 300, sgd: 50, thb: 1_000, usd: 50,
};

export interface ChargingConnection {
  kind: string;
  settings: Record<string, unknown> | null;
}

/**
 * What at least one of the connections can charge, in atoms; 0 without a limit. A connection's `minimum_amounts` by currency
 * come before the table of its kind.
 */
export function minimumAmount(connections: readonly ChargingConnection[], currency: string): number {
  const minima = connections.map((connection) => minimumOf(connection, currency));
  return minima.length === 0 ? 0 : Math.min(...minima);
}

function minimumOf({ kind, settings }: ChargingConnection, currency: string): number {
  const own = (settings?.minimum_amounts as Record<string, number> | undefined)?.[currency];
  return own ?? (kind === 'stripe' ? (stripe[currency] ?? 0) : 0);
}
