interface Declines {
  brand: string | null;
  /** Refused attempts with the method over all its mappings. */
  declined24h: number;
  declined30d: number;
}

/**
 * Whether another attempt would break the card scheme's limit on repeated attempts. Sources: Visa Core Rules 7.3.6.5
 * (20 in 30 days); Mastercard Transaction Processing Excellence, merchant advice (10 in 24 hours, 35 in 30 days).
 */
export function schemeLimitReached({ brand, declined24h, declined30d }: Declines): boolean {
  switch (brand?.toLowerCase()) {
    case 'visa':
      return declined30d >= 20;
    case 'mastercard':
      return declined24h >= 10 || declined30d >= 35;
    default:
      return false;
  }
}
