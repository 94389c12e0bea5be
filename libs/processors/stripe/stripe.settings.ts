import { isIP } from 'node:net';
import { z } from 'zod';
import { minimumAmounts } from '../minimum-amounts.js';
import type { ProcessorPlace } from '../settings.js';

const milliseconds = (most: number) => z.int().min(1).max(most);
const url = z.url({ protocol: /^https?$/, error: 'Expected an http or https URL' });

/** `api_base` and `settle_after_ms` are for tests against a fake on the same machine; nobody else can set them. */
export function stripeSettings({ allowLoopback }: ProcessorPlace) {
  const local = <T extends z.ZodType>(schema: T) => (allowLoopback ? schema : z.never({ error: 'Only staging on one machine takes this setting' }));
  return z.strictObject({
    total_timeout_ms: milliseconds(60_000),
    connect_timeout_ms: milliseconds(5_000),
    /** Where the customer returns after a challenge, for payments that name no `return_url`. */
    return_url: url.nullable(),
    minimum_amounts: minimumAmounts,
    api_base: local(url.refine(isLoopbackUrl, { error: 'Expected a loopback address' })),
    settle_after_ms: local(z.int().min(0).max(86_400_000)),
  }).partial();
}

/** Test keys belong to staging, live keys to production; restricted keys (`rk_`) count like secret ones. */
export function stripeCredentials({ environment }: ProcessorPlace) {
  const mode = environment === 'production' ? 'live' : 'test';
  const secretKey = new RegExp(`^[sr]k_${mode}_\\w+$`);
  const webhookSecret = z.string().regex(/^whsec_\S+$/, 'Expected the endpoint\'s signing secret, whsec_…');
  return z.strictObject({
    secret_key: z.string({ error: 'Field required' }).regex(secretKey, `Expected a secret key of ${mode} mode, sk_${mode}_…`),
    webhook_secret: webhookSecret.optional(),
  });
}

export function isLoopbackUrl(text: string): boolean {
  const { hostname } = new URL(text);
  const bare = hostname.replace(/^\[|\]$/g, '');
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
