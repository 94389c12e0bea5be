/** What stands in an answer for the value of a header of the receiver's own. */
export const maskedHeader = '[masked]';

export const mostHeaders = 20;
export const mostHeaderBytes = 8 * 1024;

const nameForm = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const valueForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,2046}[\x21-\x7e])?$/;

/** Names that carry the message itself, its signatures, or what proxies believe of its sender. */
const reservedNames = new Set([
  'accept-encoding', 'connection', 'content-encoding', 'content-length', 'content-type', 'date', 'expect', 'forwarded', 'host', 'http2-settings', 'keep-alive',
  'signature', 'signature-digest', 'signature-input', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'via', 'x-real-ip',
]);
const reservedPrefixes = ['content-', 'proxy-', 'sec-', 'signalbox-', 'webhook-', 'x-forwarded-', 'x-signalbox-'];

/** Why an endpoint cannot have this header, or null. `name` in lower case. */
export function refuseHeaderName(name: string): string | null {
  if (!nameForm.test(name)) return 'a header\'s name has 1 to 64 letters, digits, - or _';
  if (reservedNames.has(name) || reservedPrefixes.some((prefix) => name.startsWith(prefix))) return 'this header is reserved';
  return null;
}

/** Why a header cannot have this value, or null. */
export function refuseHeaderValue(value: string): string | null {
  return valueForm.test(value) ? null : 'a header\'s value has 1 to 2048 printable ASCII characters, without space at its ends';
}

/** Names with the mask instead of values. */
export function maskedHeaders(headers: Record<string, unknown> | null): Record<string, string> | null {
  return headers && Object.fromEntries(Object.keys(headers).map((name) => [name, maskedHeader]));
}
