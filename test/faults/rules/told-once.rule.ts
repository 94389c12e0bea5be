import type { Breach, EventRow, Records } from '../records.js';
import { groupedBy, indexed, shown } from './known.js';

/** 6: an event per committed change; each reaches every endpoint or its exhaustion is told; nothing uncommitted is told. */
export function toldOnce(records: Records): Breach[] {
  return [...gaps(records), ...untold(records), ...undelivered(records), ...invented(records)];
}

function gaps({ books }: Records): Breach[] {
  const breaches: Breach[] = [];
  for (const [object, events] of groupedBy(books.events, (event) => event.object)) {
    const sequences = events.map(({ sequence }) => sequence).toSorted((one, other) => one - other);
    const gap = sequences.findIndex((sequence, index) => sequence !== index + 1);
    if (gap >= 0) breaches.push({ rule: 6, what: `event ${gap + 1} of an object is missing`, ids: [events[0]!.told.id, object] });
  }
  return breaches;
}

/** The last event of an object says what its row says; one that announces what is not stored yet, such as the next invoice, says nothing of it. */
function untold({ books }: Records): Breach[] {
  const last = new Map<string, EventRow>();
  for (const event of books.events) if (event.told.id !== '' && (last.get(event.object)?.sequence ?? 0) < event.sequence) last.set(event.object, event);
  const breaches: Breach[] = [];
  const compare = (kind: 'pi' | 'ch' | 're' | 'inv' | 'sub', row: { id: string; status: string }, amounts: Record<string, number>): void => {
    const event = last.get(row.id);
    const said = event && { status: event.told.status, ...event.told.amounts };
    const is = { ...said, status: row.status, ...amounts };
    if (!said) breaches.push({ rule: 6, what: 'a row has no event', ids: [shown(kind, row.id)] });
    else if (JSON.stringify(said) !== JSON.stringify(is)) {
      breaches.push({ rule: 6, what: `the last event says ${JSON.stringify(said)}, the row is ${JSON.stringify(is)}`, ids: [shown(kind, row.id), event.type] });
    }
  };
  for (const row of books.intents) {
    if (row.status !== 'processing') compare('pi', row, { amount: row.amount, received: row.received, refunded: row.refunded, capturable: row.capturable });
  }
  for (const row of books.charges) compare('ch', row, { amount: row.amount, authorized: row.authorized, captured: row.captured, refunded: row.refunded });
  for (const row of books.refunds) compare('re', row, { amount: row.amount });
  for (const row of books.subscriptions) compare('sub', row, {});
  for (const row of books.invoices) if (row.status !== 'draft') compare('inv', row, {});
  return breaches;
}

function undelivered({ books, heard }: Records): Breach[] {
  const arrived = new Set(heard.filter(isTaken).map(({ eventId, endpoint }) => `${eventId} ${endpoint}`));
  const planned = indexed(books.deliveries, ({ event, endpoint }) => `${event} ${endpoint}`);
  const exhausted = new Set(books.events.filter(({ type }) => type === 'webhook_delivery.exhausted').map(({ object }) => object));
  const breaches: Breach[] = [];
  for (const endpoint of books.endpoints) {
    for (const event of books.events) {
      if (event.created < endpoint.created || event.object === endpoint.id || isSensitive(event.type)) continue;
      const delivery = planned.get(`${event.id} ${endpoint.id}`);
      const ids = [shown('event', event.id), shown('webhook_endpoint', endpoint.id)];
      if (!delivery) {
        if (event.created > endpoint.created) breaches.push({ rule: 6, what: `${event.type} has no delivery to an endpoint that hears everything`, ids });
      } else if (delivery.status === 'exhausted') {
        if (!exhausted.has(delivery.id)) breaches.push({ rule: 6, what: `the delivery of ${event.type} is exhausted and nobody was told`, ids });
      } else if (!arrived.has(ids.join(' '))) {
        breaches.push({ rule: 6, what: `${event.type} never reached an endpoint (its delivery is ${delivery.status})`, ids });
      }
    }
  }
  return breaches;
}

const isTaken = ({ answered }: Records['heard'][number]): boolean => answered !== null && answered < 300;
const isSensitive = (type: string): boolean => /^(user|user_login|invite|api_token)\./.test(type);

function invented({ books, heard }: Records): Breach[] {
  const stored = indexed(books.events, ({ id }) => shown('event', id));
  const breaches: Breach[] = [];
  for (const post of heard) {
    const event = stored.get(post.eventId);
    const wrong = !event ? 'was never committed' : event.digest !== post.digest ? 'is not what was committed' : post.verified ? null : 'is not signed';
    if (wrong) breaches.push({ rule: 6, what: `a received ${post.type} ${wrong}`, ids: [post.eventId, post.object] });
  }
  return breaches;
}
