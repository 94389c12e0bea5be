import type { Breach, Records } from '../records.js';
import { groupedBy, shown } from './known.js';

const lateMs = 120_000;

/** 1, 2, 3 and 8 for subscriptions: paid means that the payment was, a paid payment is known to its invoice, each period is billed once, nothing is late. */
export function invoices({ books, readAt }: Records): Breach[] {
  const paying = groupedBy(books.intents.filter(({ invoice, status }) => invoice !== null && status === 'succeeded'), ({ invoice }) => invoice!);
  const breaches: Breach[] = [];
  for (const invoice of books.invoices) {
    const received = (paying.get(invoice.id) ?? []).reduce((sum, intent) => sum + intent.received, 0);
    const ids = [shown('inv', invoice.id)];
    if (invoice.status === 'paid' && !invoice.out_of_band && invoice.due > 0 && received !== invoice.due) {
      breaches.push({ rule: 2, what: `an invoice of ${invoice.due} is paid, its payments received ${received}`, ids });
    }
    if ((invoice.status === 'open' || invoice.status === 'past_due') && received >= invoice.due && received > 0) {
      breaches.push({ rule: 3, what: `an invoice is ${invoice.status} although its payment succeeded`, ids });
    }
  }
  for (const subscription of books.subscriptions) {
    if (subscription.status === 'cancelled' || subscription.next_action === null || subscription.next_action > readAt - lateMs) continue;
    const seconds = Math.round((readAt - subscription.next_action) / 1_000);
    breaches.push({ rule: 8, what: `a subscription should have moved ${seconds} s ago`, ids: [shown('sub', subscription.id)] });
  }
  const unresolved = new Set(books.intents.filter(({ settled, status }) => !settled || status === 'exception').map(({ invoice }) => invoice));
  for (const { id, charging } of books.subscriptions) {
    if (charging === null || unresolved.has(charging)) continue;
    breaches.push({ rule: 8, what: 'a subscription waits for a payment that has ended', ids: [shown('sub', id), shown('inv', charging)] });
  }
  return [...breaches, ...periods(books), ...clocks(books)];
}

const cyclic = new Set(['subscription_create', 'subscription_cycle']);

/** 1 and 8: of a subscription that nobody pauses or changes, each period is billed once, and none is left out. */
function periods({ invoices }: Records['books']): Breach[] {
  const breaches: Breach[] = [];
  for (const [id, billed] of groupedBy(invoices.filter(({ subscription, reason }) => subscription !== null && cyclic.has(reason)), ({ subscription }) => subscription!)) {
    billed.sort((one, other) => one.starts - other.starts);
    for (const [index, { ends }] of billed.entries()) {
      const next = billed[index + 1];
      if (!next || next.starts === ends) continue;
      const twice = next.starts < ends;
      const what = twice ? 'time of a subscription is billed twice' : 'time of a subscription was never billed';
      breaches.push({ rule: twice ? 1 : 8, what: `${what}, from ${new Date(twice ? next.starts : ends).toISOString()}`, ids: [shown('sub', id), shown('inv', next.id)] });
    }
  }
  return breaches;
}

/** 8: a test clock has arrived with everything that was due, or waits for a payment that a person must see. */
function clocks({ clocks: rows }: Records['books']): Breach[] {
  return rows.flatMap(({ id, status, reason, waiting, frozen, next_action }): Breach[] => {
    const ids = [shown('clock', id)];
    if (status === 'internal_failure') return [{ rule: 8, what: `a test clock failed: ${reason ?? 'no reason'}`, ids }];
    if (status === 'advancing') return waiting === null ? [{ rule: 8, what: 'a test clock stands still', ids }] : [];
    return next_action !== null && next_action <= frozen ? [{ rule: 8, what: 'a test clock left something out that was due', ids }] : [];
  });
}
