const keptBytes = 4096;
const hidden = '[redacted]';

const secrets: RegExp[] = [
  /whsec_[A-Za-z0-9+/=_-]{8,}/g,
  /\b[sp]k_(?:live|test)_[A-Za-z0-9]{8,}/g,
  /\bst_(?:prod|stg)_[A-Za-z0-9_-]{8,}/g,
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{8,}/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g,
];

const named = /("?(?:password|passwd|secret|token|api[_-]?key|authorization|cookie|cvc|cvv)"?\s*[:=]\s*)(?:"[^"]*"|[^\s,;&}]+)/gi;
const digitRun = /\d(?:[ -]?\d){12,18}/g;

/** The first 4 KiB of an answer as text that is safe to store and show: no secrets, no card numbers, no NUL. */
export function excerptOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return '';
  return cut(redact(new TextDecoder('utf-8').decode(bytes)));
}

/** Text without what looks like a secret or a card number, and without NUL, which Postgres cannot store. */
export function redact(from: string): string {
  let text = from.replaceAll('\0', '\uFFFD');
  for (const secret of secrets) text = text.replace(secret, hidden);
  text = text.replace(named, `$1${hidden}`);
  return text.replace(digitRun, (run) => (isCardNumber(run.replace(/\D/g, '')) ? hidden : run));
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= keptBytes) return text;
  let end = keptBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

function isCardNumber(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
