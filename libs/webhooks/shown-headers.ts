import { redact } from './excerpt.js';

const hidden = '[masked]';
const longestValue = 200;
/** Enough to compare with what a receiver logged, too little to be of use. */
const signatureKept = 8;

const plain = new Set(['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp']);
const signatures = new Set(['signature-digest', 'webhook-signature']);

/** Request headers as they may be stored and shown: signatures shortened, values that an account chose masked. */
export function shownRequestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => {
    const key = name.toLowerCase();
    if (plain.has(key)) return [key, value];
    return [key, signatures.has(key) ? shortened(value) : hidden];
  }));
}

function shortened(value: string): string {
  return value.replace(/(v1[=,])([A-Za-z0-9+/=]+)/g, (_all, version: string, signature: string) => `${version}${signature.slice(0, signatureKept)}…`);
}

const answers = ['content-type', 'content-length', 'content-encoding', 'retry-after', 'location', 'server', 'date', 'x-request-id', 'allow', 'www-authenticate'];

/** The answer's headers that explain an outcome, redacted. */
export function shownResponseHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of answers) {
    const value = headers[name];
    if (value !== undefined) shown[name] = redact(String(value)).slice(0, longestValue);
  }
  return shown;
}
