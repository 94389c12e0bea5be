import { declineClasses, mayBeRetriedNow } from '../domain/payment/decline-class.js';
import { networkAdvice } from '../domain/payment/network-advice.js';
import { outcomeRules } from '../domain/payment/outcome.rules.js';
import { declines, type DeclineCode } from '../errors/catalogue.js';
import { unlistedDecline, type DeclineRow } from './decline-code.js';
import { declineRows, refusalRows } from './http/http-refusal.js';
import { processorKinds, type ProcessorKind } from './port.js';
import { simulatorDeclines } from './simulator/simulator-decline.js';
import { stripeDeclines, stripeRefundFailures, stripeRefusals } from './stripe/stripe-decline.js';

interface DeclineTables {
  title: string;
  rows: readonly DeclineRow[];
}

/** Every code of every kind of processor. */
export const declineTables: Record<ProcessorKind, readonly DeclineTables[]> = {
  simulator: [{ title: 'Declines and refusals', rows: [...simulatorDeclines.values()] }],
  stripe: [
    { title: 'Declines (`decline_code`, else `code`)', rows: [...stripeDeclines.values()] },
    { title: 'Refused requests (`code`)', rows: [...stripeRefusals.values()] },
    { title: 'Refunds that failed later (`failure_reason`)', rows: [...stripeRefundFailures.values()] },
  ],
  http: [
    { title: 'Declines (402)', rows: declineRows },
    { title: 'Refused requests', rows: refusalRows },
  ],
};

const elsewhere = { never: 'no', by_policy: 'by the route\'s policy', after_confirmed_cancel: 'by the route\'s policy, after a confirmed cancel' } as const;
const later = { nothing: '–', resolve: 'is looked up', dunning: 'retried by dunning', new_method: 'never with this method', customer: 'waits for the customer' } as const;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function codeRow(code: DeclineCode): string[] {
  const rule = outcomeRules[declineClasses[code]];
  const now = mayBeRetriedNow(code) ? elsewhere[rule.elsewhere] : 'no';
  return [`\`${code}\``, declineClasses[code], now, later[rule.later], declines[code].explanation];
}

function kindSection(kind: ProcessorKind): string {
  const tables = declineTables[kind].map(({ title, rows }) => {
    const cells = rows.map((row) => [`\`${row.code}\``, row.outcomeClass, `\`${row.declineCode}\``, row.source]);
    return `${title}:\n\n${table(['code', 'class', 'normalised', 'source'], cells)}`;
  });
  return [`## Kind \`${kind}\``, ...tables].join('\n\n');
}

/** The page `DECLINES.md`, made from the tables that the adapters read. */
export function declineDocument(): string {
  const codes = (Object.keys(declines) as DeclineCode[]).map(codeRow);
  const advice = networkAdvice.map((row) => [row.scheme, `\`${row.code}\``, row.category?.toString() ?? '–', row.meaning, row.advice ?? '–', row.source]);
  return `${[
    '# Decline codes',
    'What each code of a processor means here. The page is made from the tables that the adapters read (`decline.document.ts`) and checked by its spec.',
    `A code that stands in no table is \`${unlistedDecline.outcomeClass}\` with \`${unlistedDecline.declineCode}\`: dunning may try again, no other connection is tried now.`,
    '## Normalised codes',
    'A declined payment answers 402 with one of these as `code`; `GET /errors/{code}` explains it. "Another connection": for the same payment, at once.',
    table(['code', 'class', 'another connection', 'later', 'meaning'], codes),
    '## What the card schemes say about trying again',
    '`never` forbids every later attempt with the payment method, and with the same card at that connection; it shows as `retry_advice` on the charge and as the skip reason `never_again` in the decision. A Visa code that is not listed is category 4, generic.',
    table(['scheme', 'code', 'category', 'meaning', 'advice', 'source'], advice),
    ...processorKinds.map(kindSection),
  ].join('\n\n')}\n`;
}
