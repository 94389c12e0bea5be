import { isIP } from 'node:net';
import { isLoopback, refuseAddress, type AddressPolicy } from './address.js';

const longestUrl = 2048;

/** Why this URL cannot be registered as a receiver, or null. A name's addresses are checked at each dial, not here. */
export function refuseTarget(text: string, policy: AddressPolicy): string | null {
  if (text.length > longestUrl) return `a URL has at most ${longestUrl} characters`;
  const url = parse(text);
  if (!url) return 'not an absolute URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the scheme must be https';
  if (url.username || url.password) return 'a URL with user information is refused';
  if (url.hash) return 'a URL with a fragment is refused';
  if (url.port === '0') return 'port 0 is refused';
  const host = hostOf(url);
  if (isIP(host)) {
    const reason = refuseAddress(host, policy);
    if (reason) return `the address is refused (${reason})`;
  } else if (isLocalName(host) && !policy.allowLoopback) {
    return 'a name of this machine is refused';
  }
  if (url.protocol === 'http:' && !mayUsePlainHttp(host, policy)) return 'the scheme must be https';
  return null;
}

/** Plain HTTP goes to loopback only, and only where loopback is allowed. */
export function mayUsePlainHttp(host: string, policy: AddressPolicy): boolean {
  return policy.allowLoopback && (isLoopback(host) || isLocalName(host));
}

/** The host without brackets: WHATWG parsing has turned octal, hexadecimal and decimal forms into dotted ones. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}

function parse(text: string): URL | null {
  if (/[\s\\]/.test(text)) return null;
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
