import type { Breach, IntentRow, Records } from '../records.js';
import { awaited, groupedBy, shown } from './known.js';

/** Beyond this a payment whose time has come was forgotten: its workflow or the sweeper comes long before. */
const lateMs = 120_000;

/** 8: nothing waits without an owner; everything stuck is on the attention list. */
export function owners(records: Records): Breach[] {
  const { books } = records;
  const waiting = awaited(records);
  const charges = groupedBy(books.charges.filter(({ status }) => status === 'pending'), ({ intent }) => intent);
  const operations = groupedBy(books.operations.filter(({ status }) => status === 'pending'), ({ intent }) => intent);
  const evidence = new Set(books.evidence);
  const breaches: Breach[] = [];
  const tell = (intent: IntentRow, what: string): void => void breaches.push({ rule: 8, what, ids: [shown('pi', intent.id)] });
  for (const intent of books.intents) {
    if (waiting.has(intent.id)) continue;
    if (intent.status === 'exception') tell(intent, 'an exception is not on the attention list');
    else if (intent.settled) {
      if (intent.status === 'processing') tell(intent, 'a settled payment is processing');
      if (charges.has(intent.id)) tell(intent, 'a settled payment has an attempt without outcome');
      if (operations.has(intent.id)) tell(intent, 'a settled payment has an unfinished capture, void or refund');
      if (evidence.has(intent.id)) tell(intent, 'a settled payment has evidence that nobody has read');
    } else {
      const abandoned = abandonedBy(intent, records);
      if (abandoned) tell(intent, abandoned);
    }
  }
  return breaches;
}

function abandonedBy(intent: IntentRow, { readAt, driven }: Records): string | null {
  if (intent.driver === 'api') return 'an interrupted payment has no workflow';
  if (driven && !driven.has(intent.id)) return `a payment in ${intent.status} has no running workflow`;
  if (intent.next_action === null) return intent.status === 'requires_action' ? null : `a payment in ${intent.status} waits for nothing`;
  return intent.next_action < readAt - lateMs ? `a payment in ${intent.status} was due ${Math.round((readAt - intent.next_action) / 1000)} s ago` : null;
}
