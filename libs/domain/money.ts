/** Currencies whose smallest unit is the unit itself (ISO 4217, minor unit 0); all others that we take have two digits. */
const whole = new Set('bif clp djf gnf jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf'.split(' '));

/** An amount in the currency's smallest unit as people write it, for example `€12.50`. Exact for every safe integer. */
export function formatAmount(amountAtom: number, currency: string): string {
  const digits = whole.has(currency) ? 0 : 2;
  const sign = amountAtom < 0 ? '-' : '';
  const padded = String(Math.abs(amountAtom)).padStart(digits + 1, '0');
  const decimal = sign + (digits === 0 ? padded : `${padded.slice(0, -digits)}.${padded.slice(-digits)}`);
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: currency.toUpperCase(),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(decimal as Intl.StringNumericLiteral);
}
