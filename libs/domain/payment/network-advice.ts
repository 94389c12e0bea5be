/** `never` forbids every later attempt with this card; `later` advises to wait. */
export type RetryAdvice = 'never' | 'later';

export interface NetworkAdviceRow {
  scheme: 'visa' | 'mastercard';
  /** Visa: the issuer's response code (field 39). Mastercard: the merchant advice code (field 48, subelement 84). */
  code: string;
  /** Visa's decline category; null for Mastercard. */
  category: 1 | 2 | 3 | null;
  meaning: string;
  advice: RetryAdvice | null;
  /** Where it is published: the schemes' own manuals are open to members only, so acquirers' pages are named. */
  source: string;
}

const visaCategories =
  'developers.tabapay.com/docs/excessive-retry-rules; checkout.com/docs/developer-resources/codes/visa-response-codes; support.forte.net, Visa decline rules';
const visaUpdates = 'developers.tabapay.com/docs/visa-response-code-updates (April 2026)';
const visaNewCodes = 'docs.cielo.com.br/ecommerce-cielo-en/changelog/new-retry-codes-for-visa-5c-e-9g (April 2025)';
const adviceCodes = 'developer.paypal.com/braintree/docs/reference/general/merchant-responses/merchant-advice-codes';
const adviceCodesMore = 'docs.everonet.com/en-us/gateway/developer-portal/appendix/mastercard-merchant-advice-code';
const adviceCodes2024 = 'developer.cybersource.com, mandates of April 2024, Mastercard merchant advice codes';

const categoryAdvice = { 1: 'never', 2: 'later', 3: null } as const;

function visa(category: 1 | 2 | 3, code: string, meaning: string, source = visaCategories): NetworkAdviceRow {
  return { scheme: 'visa', code, category, meaning, advice: categoryAdvice[category], source };
}

function mastercard(code: string, advice: RetryAdvice | null, meaning: string, source = adviceCodes): NetworkAdviceRow {
  return { scheme: 'mastercard', code, category: null, meaning, advice, source };
}

/**
 * What the schemes say about trying again. Visa's categories: 1 the issuer will never approve, 2 it cannot approve now,
 * 3 the data must be corrected first; every Visa code that is not listed is category 4, generic, and gives no advice.
 */
export const networkAdvice: readonly NetworkAdviceRow[] = [
  visa(1, '04', 'Pick up the card (no fraud)'),
  visa(1, '07', 'Pick up the card, special conditions'),
  visa(1, '12', 'Invalid transaction'),
  visa(1, '14', 'Invalid account number'),
  visa(1, '15', 'No such issuer'),
  visa(1, '41', 'Lost card'),
  visa(1, '43', 'Stolen card'),
  visa(1, '46', 'Closed account, or a deactivated token', visaUpdates),
  visa(1, '57', 'Transaction not permitted to the cardholder', visaUpdates),
  visa(1, 'R0', 'Stop this payment', visaUpdates),
  visa(1, 'R1', 'Stop all payments to this merchant', visaUpdates),
  visa(1, 'R3', 'Stop all recurring payments of this card', visaUpdates),
  visa(2, '03', 'Invalid merchant'),
  visa(2, '19', 'Enter the transaction again'),
  visa(2, '39', 'No credit account'),
  visa(2, '51', 'Insufficient funds'),
  visa(2, '52', 'No checking account'),
  visa(2, '53', 'No savings account'),
  visa(2, '59', 'Suspected fraud'),
  visa(2, '61', 'Amount limit exceeded'),
  visa(2, '62', 'Restricted card'),
  visa(2, '65', 'Frequency limit exceeded'),
  visa(2, '75', 'Too many PIN tries'),
  visa(2, '78', 'Blocked until its first use'),
  visa(2, '83', 'Blocked by Visa because of fraud', visaUpdates),
  visa(2, '86', 'The PIN cannot be verified'),
  visa(2, '91', 'Issuer or switch inoperative'),
  visa(2, '93', 'Cannot be completed: violation of law'),
  visa(2, '96', 'System malfunction'),
  visa(2, '5C', 'Not supported, or blocked by the issuer', visaNewCodes),
  visa(2, '9G', 'Blocked by the cardholder', visaNewCodes),
  visa(2, 'N3', 'Cash service not available'),
  visa(2, 'N4', 'Cash request exceeds the limit'),
  visa(3, '54', 'Expired card, or no expiry date'),
  visa(3, '55', 'Incorrect or missing PIN'),
  visa(3, '82', 'Wrong card verification value'),
  visa(3, '1A', 'Customer authentication required'),
  visa(3, 'N7', 'Card security code failed'),
  mastercard('01', null, 'New account information is available'),
  mastercard('02', 'later', 'Cannot approve now; try again after 72 hours'),
  mastercard('03', 'never', 'Do not try again'),
  mastercard('04', null, 'The token does not fulfil the requirements'),
  mastercard('21', 'never', 'The cardholder cancelled the agreement'),
  mastercard('22', null, 'The merchant does not qualify for the product code', adviceCodesMore),
  mastercard('24', 'later', 'Try again after 1 hour'),
  mastercard('25', 'later', 'Try again after 24 hours'),
  mastercard('26', 'later', 'Try again after 2 days'),
  mastercard('27', 'later', 'Try again after 4 days'),
  mastercard('28', 'later', 'Try again after 6 days'),
  mastercard('29', 'later', 'Try again after 8 days'),
  mastercard('30', 'later', 'Try again after 10 days'),
  mastercard('40', null, 'Consumer prepaid card that cannot be reloaded'),
  mastercard('41', null, 'Consumer virtual card number for a single use'),
  mastercard('42', null, 'The sanctions score exceeds the threshold', adviceCodes2024),
  mastercard('43', null, 'Consumer virtual card number for several uses'),
];

const rows = new Map(networkAdvice.map((row) => [`${row.scheme}:${row.code}`, row]));

export interface NetworkAdvice {
  retryAdvice: RetryAdvice | null;
  networkAdviceCode: string | null;
}

/** What a refusal's codes say. `brand` in any spelling; a brand without published advice gives none. */
export function networkAdviceOf(
  brand: string | null | undefined,
  codes: { responseCode?: string | null; merchantAdviceCode?: string | null },
): NetworkAdvice {
  const row = adviceRow(brand, codes);
  return { retryAdvice: row?.advice ?? null, networkAdviceCode: row?.code ?? null };
}

/** The table's row behind `networkAdviceOf`. */
export function adviceRow(
  brand: string | null | undefined,
  { responseCode, merchantAdviceCode }: { responseCode?: string | null; merchantAdviceCode?: string | null },
): NetworkAdviceRow | null {
  const scheme = brand?.toLowerCase().replaceAll(/[^a-z]/g, '') ?? '';
  if (scheme.startsWith('visa')) return rowOf('visa', responseCode);
  if (scheme.startsWith('mastercard')) return rowOf('mastercard', merchantAdviceCode);
  return null;
}

function rowOf(scheme: NetworkAdviceRow['scheme'], code: string | null | undefined): NetworkAdviceRow | null {
  return code ? (rows.get(`${scheme}:${code.trim().toUpperCase().padStart(2, '0')}`) ?? null) : null;
}
