import { initialIntentStatuses, intentTable } from '../../../libs/domain/payment/payment.machine.js';
import type { IntentStatus } from '../../../libs/domain/payment/payment-status.js';
import type { Breach, EventRow, Heard, Records } from '../records.js';
import { groupedBy } from './known.js';

type Move = Pick<EventRow, 'sequence' | 'told' | 'type'>;

const chargeMoves: Record<string, string[]> = { pending: ['succeeded', 'failed'], failed: ['succeeded'], succeeded: [] };
const refundMoves: Record<string, string[]> = { pending: ['succeeded', 'failed'], succeeded: ['failed'], failed: [] };

/** 5: states move only along the tables: as the events were stored, and as they were received. */
export function moves({ books, heard }: Records): Breach[] {
  const received = [...new Map(heard.map((post) => [post.eventId, post])).values()];
  return [...wrongMoves(books.events), ...wrongMoves(received)];
}

function wrongMoves(events: readonly (EventRow | Heard)[]): Breach[] {
  const breaches: Breach[] = [];
  for (const [object, found] of groupedBy<Move>(events, ({ told }) => told.id)) {
    const inOrder = found.toSorted((one, other) => one.sequence - other.sequence);
    for (const [index, move] of inOrder.entries()) {
      const before = inOrder[index - 1];
      const follows = before === undefined || before.sequence === move.sequence - 1;
      const wrong = follows ? wrongMove(before, move) : null;
      if (wrong) breaches.push({ rule: 5, what: `${move.told.object} ${wrong} (${move.type}, event ${move.sequence} of the object)`, ids: [object] });
    }
  }
  return breaches;
}

function wrongMove(before: Move | undefined, { told, sequence }: Move): string | null {
  const to = told.status;
  if (to === null) return null;
  if (before === undefined) return sequence > 1 || startsAs(told.object, to) ? null : `begins as ${to}`;
  const from = before.told.status!;
  return from === to || isAllowed(told.object, from, to) ? null : `went from ${from} to ${to}`;
}

function startsAs(object: string, status: string): boolean {
  if (object === 'payment_intent') return (initialIntentStatuses as readonly string[]).includes(status);
  if (object === 'charge') return status === 'pending';
  return true;
}

function isAllowed(object: string, from: string, to: string): boolean {
  if (object === 'payment_intent') return afterOne(from).some((status) => status === to || (status === 'processing' && afterOne('processing').includes(to)));
  if (object === 'charge') return (chargeMoves[from] ?? []).includes(to);
  if (object === 'refund') return (refundMoves[from] ?? []).includes(to);
  return true;
}

/** An attempt elsewhere begins with the next charge's event: the intent's own `processing` between two moves is not told. */
function afterOne(status: string): string[] {
  const next = Object.values(intentTable[status as IntentStatus] ?? {});
  return status === 'requires_action' ? [...next, 'processing'] : next;
}
