import { BlockList } from 'node:net';
import { z } from 'zod';
import { minimumAmounts } from '../minimum-amounts.js';

const shortestSecret = 32;
const day = 86_400_000;
const milliseconds = (most: number) => z.int().min(1).max(most);

/** Where a provider may be. `allowLoopback`: plain http to this machine, in a staging that `npm start` runs. */
export interface PeerPolicy {
  allowLoopback: boolean;
}

const secret = z.string().min(shortestSecret, `Expected at least ${shortestSecret} characters`);

/** What is given. A rotation keeps the one before as `previous_secret`, for what comes in. */
export const httpCredentials = z.strictObject({ secret });

export function httpSettings(policy: PeerPolicy) {
  return z.strictObject({
    base_url: z.string({ error: 'Expected the address of the provider' }).superRefine((value, context) => {
      const problem = addressProblem(value, policy);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    }),
    total_timeout_ms: milliseconds(60_000).optional(),
    connect_timeout_ms: milliseconds(5_000).optional(),
    idempotency_window_ms: z.int().min(0).max(90 * day).nullable().optional(),
    settle_after_ms: z.int().min(0).max(day).optional(),
    lookup: z.enum(['strong', 'eventual', 'none']).optional(),
    list: z.boolean().optional(),
    minimum_amounts: minimumAmounts.optional(),
  });
}

/** Why the address is refused, or null. */
export function addressProblem(text: string, policy: PeerPolicy): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'Expected an https address';
  if (url.username || url.password) return 'No user name or password in the address';
  if (url.port === '0') return 'Port 0 cannot be reached';
  if (url.search || url.hash || /[?#]/.test(text)) return 'No query or fragment in the address';
  if (url.protocol === 'https:') return null;
  if (!isLoopback(url.hostname)) return 'Expected an https address';
  return policy.allowLoopback ? null : 'http is for this machine only, in a staging that `npm start` runs';
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost') return true;
  if (hostname.startsWith('[')) return loopback.check(hostname.slice(1, -1), 'ipv6');
  return /^\d+(\.\d+){3}$/.test(hostname) && loopback.check(hostname, 'ipv4');
}
