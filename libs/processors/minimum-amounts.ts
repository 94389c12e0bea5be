import { z } from 'zod';

/** The least amount by currency, in atoms, that the provider charges; smaller invoices are carried to the next one. */
export const minimumAmounts = z.record(z.string().regex(/^[a-z]{3}$/, 'Expected a lower-case currency'), z.int().min(0).max(1_000_000_000));
