import { declineClasses } from '../../domain/payment/decline-class.js';
import type { OutcomeClass } from '../../domain/payment/outcome.js';
import { declines, type DeclineCode } from '../../errors/catalogue.js';
import { declineTable, unlistedDecline, type DeclineRow } from '../decline-code.js';

/** A code of the contract, with the only status that it may come with. */
export interface HttpRefusalRow extends DeclineRow {
  status: number;
  meaning: string;
}

const source = 'libs/processors/http/contract.openapi.json';

function row(status: number, code: string, more: Pick<HttpRefusalRow, 'outcomeClass' | 'declineCode' | 'meaning'>): HttpRefusalRow {
  return { status, code, source, ...more };
}

const declineOutcomes: ReadonlySet<OutcomeClass> = new Set<OutcomeClass>([
  'soft_decline', 'insufficient_funds', 'hard_decline', 'authentication_required', 'risk_refused',
]);

/** The issuer's or the provider's no, status 402: every normalised decline code that means one. */
export const declineRows: readonly HttpRefusalRow[] = (Object.keys(declineClasses) as DeclineCode[])
  .filter((code) => declineOutcomes.has(declineClasses[code]))
  .map((code) => row(402, code, { outcomeClass: declineClasses[code], declineCode: code, meaning: declines[code].explanation }));

function refused(status: number, code: string, declineCode: HttpRefusalRow['declineCode'], meaning: string): HttpRefusalRow {
  return row(status, code, { outcomeClass: 'processor_error', declineCode, meaning });
}

/** The provider refused the request as such, and nothing was created or changed. */
export const refusalRows: readonly HttpRefusalRow[] = [
  refused(401, 'invalid_signature', 'misconfigured', 'Signature missing, wrong, of an unknown key or too old'),
  refused(403, 'not_allowed', 'misconfigured', 'This merchant may not do this'),
  refused(404, 'unknown_payment', 'processing_error', 'No such payment'),
  refused(404, 'unknown_payment_method', 'payment_method_unknown', 'No such payment method'),
  refused(422, 'invalid_request', 'misconfigured', 'Unreadable body, or a field is missing or invalid'),
  refused(422, 'unknown_token', 'payment_method_unknown', 'The token is not one of yours, or was used'),
  refused(422, 'reference_closed', 'processing_error', 'A void closed this reference before'),
  refused(422, 'not_capturable', 'processing_error', 'The payment is not authorized, or was captured before'),
  refused(422, 'not_voidable', 'processing_error', 'The payment is captured: refund it'),
  refused(422, 'not_refundable', 'processing_error', 'The payment is not captured'),
  refused(422, 'amount_too_large', 'processing_error', 'More than was authorized, or than is left to refund'),
  refused(422, 'not_supported', 'misconfigured', 'This provider cannot do this at all'),
  refused(422, 'amount_outside_limits', 'amount_outside_limits', 'Smaller or larger than this provider takes'),
  refused(422, 'processing_error', 'processing_error', 'Any other reason; nothing was created'),
  refused(429, 'rate_limited', 'processor_rate_limited', 'Slow down'),
];

const table = declineTable([...declineRows, ...refusalRows]) as ReadonlyMap<string, HttpRefusalRow>;

/** What a code means under a status; null: the contract does not know the pair, so nothing is certain. */
export function refusalOf(status: number, code: string): Pick<HttpRefusalRow, 'outcomeClass' | 'declineCode'> | null {
  const known = table.get(code);
  if (known?.status === status) return known;
  return status === 402 ? unlistedDecline : null;
}
