import { declineTable, type DeclineRow } from '../decline-code.js';

const cards = 'apps/simulator/README.md, test cards and outcomes';
const operations = 'apps/simulator/src/book.ts, refusals of operations';

const rows: DeclineRow[] = [
  { code: 'do_not_honor', outcomeClass: 'soft_decline', declineCode: 'do_not_honor', source: cards },
  { code: 'issuer_unavailable', outcomeClass: 'soft_decline', declineCode: 'issuer_unavailable', source: cards },
  { code: 'velocity_exceeded', outcomeClass: 'soft_decline', declineCode: 'velocity_exceeded', source: cards },
  { code: 'incorrect_cvc', outcomeClass: 'soft_decline', declineCode: 'incorrect_cvc', source: cards },
  { code: 'authentication_failed', outcomeClass: 'soft_decline', declineCode: 'authentication_failed', source: cards },
  { code: 'insufficient_funds', outcomeClass: 'insufficient_funds', declineCode: 'insufficient_funds', source: cards },
  { code: 'lost_card', outcomeClass: 'hard_decline', declineCode: 'lost_card', source: cards },
  { code: 'stolen_card', outcomeClass: 'hard_decline', declineCode: 'stolen_card', source: cards },
  { code: 'expired_card', outcomeClass: 'hard_decline', declineCode: 'expired_card', source: cards },
  { code: 'authentication_required', outcomeClass: 'authentication_required', declineCode: 'authentication_required', source: cards },
  { code: 'suspected_fraud', outcomeClass: 'risk_refused', declineCode: 'suspected_fraud', source: cards },
  { code: 'processing_error', outcomeClass: 'processor_error', declineCode: 'processing_error', source: cards },
  { code: 'misconfigured', outcomeClass: 'processor_error', declineCode: 'misconfigured', source: cards },
  { code: 'rate_limited', outcomeClass: 'processor_error', declineCode: 'processor_rate_limited', source: cards },
  { code: 'unknown_outcome', outcomeClass: 'processor_error', declineCode: 'misconfigured', source: cards },
  { code: 'unknown_card', outcomeClass: 'processor_error', declineCode: 'misconfigured', source: cards },
  { code: 'unknown_payment_method', outcomeClass: 'processor_error', declineCode: 'payment_method_unknown', source: operations },
  { code: 'unknown_payment', outcomeClass: 'processor_error', declineCode: 'processing_error', source: operations },
  { code: 'reference_cancelled', outcomeClass: 'processor_error', declineCode: 'processing_error', source: operations },
  { code: 'not_capturable', outcomeClass: 'processor_error', declineCode: 'processing_error', source: operations },
  { code: 'not_voidable', outcomeClass: 'processor_error', declineCode: 'processing_error', source: operations },
  { code: 'not_refundable', outcomeClass: 'processor_error', declineCode: 'processing_error', source: operations },
  { code: 'amount_too_large', outcomeClass: 'processor_error', declineCode: 'processing_error', source: operations },
  { code: 'invalid_request', outcomeClass: 'processor_error', declineCode: 'misconfigured', source: operations },
];

export const simulatorDeclines = declineTable(rows);
