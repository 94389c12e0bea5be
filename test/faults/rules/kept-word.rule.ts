import type { Breach, Call, IntentRow, OperationRow, Records, RefundRow } from '../records.js';
import { awaited, groupedBy, indexed, reachableFrom, shown } from './known.js';

interface Kept {
  intents: Map<string, IntentRow>;
  refunds: Map<string, RefundRow>;
  operations: Map<string, OperationRow[]>;
  others: Set<string>;
  /** Payments that wait for a person: a refund that came back is one. */
  waiting: Set<string>;
}

/** 4: what a 2xx acknowledged survives any crash; one key made one object. */
export function keptWord(records: Records): Breach[] {
  const { books } = records;
  const kept: Kept = {
    intents: indexed(books.intents, ({ id }) => shown('pi', id)),
    refunds: indexed(books.refunds, ({ id }) => shown('re', id)),
    operations: groupedBy(books.operations, ({ intent }) => shown('pi', intent)),
    waiting: new Set([...awaited(records)].map((object) => shown('pi', object))),
    others: new Set([...books.others, ...books.subscriptions.map(({ id }) => shown('sub', id))]),
  };
  const breaches: Breach[] = [];
  for (const call of records.calls) {
    const broken = call.status === null ? null : brokenWord(call, kept);
    if (broken) breaches.push({ rule: 4, what: `call ${call.number} (${call.method} ${call.path}, ${call.status}): ${broken}`, ids: idsOf(call) });
  }
  return [...breaches, ...doubledKeys(records.calls), ...surplusPayments(records)];
}

function idsOf({ answer, journey }: Call): string[] {
  return [answer?.id, answer?.payment_intent_id, journey].filter((id): id is string => typeof id === 'string');
}

function brokenWord(call: Call, kept: Kept): string | null {
  const { answer, status, path } = call;
  if (status === 402 && typeof answer?.payment_intent_id === 'string') return kept.intents.has(answer.payment_intent_id) ? null : 'its payment is gone';
  if (status === null || status >= 300) return null;
  if (path === '/subscriptions/') return kept.others.has(answer?.created?.[0]?.id) ? null : 'the subscription is gone';
  if (typeof answer?.id !== 'string') return null;
  if (answer.object === 'payment_intent') return brokenIntent(call, kept);
  if (answer.object === 'refund') return brokenRefund(call, kept.refunds.get(answer.id));
  if (call.method !== 'POST') return null;
  return ['customer', 'payment_method'].includes(answer.object) && !kept.others.has(answer.id) ? `the ${answer.object} is gone` : null;
}

function brokenIntent({ method, path, answer }: Call, { intents, operations, waiting }: Kept): string | null {
  const row = intents.get(answer.id);
  if (!row) return 'the payment is gone';
  if (row.amount !== answer.amount_atom || row.currency !== answer.currency) return `its amount is ${row.amount} ${row.currency}`;
  if (!reachableFrom(answer.status).has(row.status)) return `it said ${answer.status}, the payment is ${row.status}`;
  if (row.received < (answer.amount_atom_received ?? 0)) return `it said that ${answer.amount_atom_received} were received, now it is ${row.received}`;
  if (row.refunded < answer.amount_atom_refunded && !waiting.has(answer.id)) return `it said that ${answer.amount_atom_refunded} were refunded, now it is ${row.refunded}`;
  const asked = method === 'POST' ? (/\/(capture|cancel)$/.exec(path)?.[1] ?? null) : null;
  const done = asked === 'capture' ? 'succeeded' : 'canceled';
  const type = asked === 'capture' ? 'capture' : 'void';
  if (asked === null || row.status === done || (operations.get(answer.id) ?? []).some((operation) => operation.type === type)) return null;
  return `the ${asked} is gone`;
}

function brokenRefund({ answer }: Call, row: RefundRow | undefined): string | null {
  if (!row) return 'the refund is gone';
  if (row.amount !== answer.amount_atom) return `its amount is ${row.amount}`;
  return answer.status === 'pending' || row.status === answer.status ? null : `it said ${answer.status}, the refund is ${row.status}`;
}

/** A journey's requests to make a payment carry a key each: there are at most as many payments, whatever was answered. */
function surplusPayments({ calls, books }: Records): Breach[] {
  const asked = groupedBy(calls.filter(({ method, path }) => method === 'POST' && path === '/payment-intents/'), ({ journey }) => journey);
  const breaches: Breach[] = [];
  for (const [journey, made] of groupedBy(books.intents, ({ metadata }) => String(metadata?.journey ?? ''))) {
    const keys = new Set((asked.get(journey) ?? []).map(({ key }) => key)).size;
    if (journey === '' || made.length <= keys) continue;
    breaches.push({ rule: 4, what: `${keys} keys made ${made.length} payments`, ids: [journey, ...made.map(({ id }) => shown('pi', id))] });
  }
  return breaches;
}

function doubledKeys(calls: readonly Call[]): Breach[] {
  const keyed = calls.filter(({ key, status, answer }) => key !== null && (status === 402 || (status !== null && status < 300)) && answer !== null);
  const breaches: Breach[] = [];
  for (const [key, found] of groupedBy(keyed, (call) => call.key!)) {
    const objects = new Set(found.map(({ answer }) => answer.payment_intent_id && answer.object === undefined ? answer.payment_intent_id : answer.id).filter(Boolean));
    if (objects.size > 1) breaches.push({ rule: 4, what: `key ${key} made several objects`, ids: [...objects] as string[] });
  }
  return breaches;
}
