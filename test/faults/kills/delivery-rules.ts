import type { Breach, Call, Heard, Records } from '../records.js';
import { groupedBy, shown } from '../rules/known.js';

/** An `ordered` endpoint takes an object's events one after the other: the next is not posted before the last was taken. */
export function inOrder(heard: readonly Heard[], endpoint: string): Breach[] {
  const breaches: Breach[] = [];
  for (const [object, posts] of groupedBy(heard.filter((post) => post.endpoint === endpoint && post.object !== ''), (post) => post.object)) {
    let taken = 0;
    for (const post of posts.toSorted((one, other) => one.number - other.number)) {
      if (post.sequence > taken + 1) breaches.push({ rule: 6, what: `event ${post.sequence} came before event ${taken + 1} was taken`, ids: [endpoint, object, post.eventId] });
      if (post.answered !== null && post.answered < 300) taken = Math.max(taken, post.sequence);
    }
  }
  return breaches;
}

/** Each acknowledged change of a customer has one event of its own, whatever died meanwhile and however often it was asked again. */
export function oneEventPerChange({ calls, books }: Records): Breach[] {
  const asked = groupedBy(calls.filter(({ method, path }) => method === 'PUT' && path.startsWith('/customers/')), ({ path }) => path.slice('/customers/'.length));
  const told = groupedBy(books.events.filter(({ type }) => type === 'customer.updated'), ({ object }) => shown('cus', object));
  const breaches: Breach[] = [];
  for (const [customer, changes] of asked) {
    const least = keysOf(changes.filter(isAcknowledged));
    const events = told.get(customer)?.length ?? 0;
    if (events < least || events > keysOf(changes)) breaches.push({ rule: 6, what: `${least} acknowledged of ${keysOf(changes)} changes made ${events} events`, ids: [customer] });
  }
  return breaches;
}

function keysOf(calls: readonly Call[]): number {
  return new Set(calls.map(({ key }) => key)).size;
}

function isAcknowledged({ status }: Call): boolean {
  return status !== null && status < 300;
}

/** Posts beyond the first of the same event to the same endpoint, and how many of them differ from it (none may). */
export function repetitions(heard: readonly Heard[]): { repeated: number; different: number } {
  let repeated = 0;
  let different = 0;
  for (const posts of groupedBy(heard, ({ endpoint, eventId }) => `${endpoint} ${eventId}`).values()) {
    repeated += posts.length - 1;
    if (posts.some(({ digest }) => digest !== posts[0]!.digest)) different += 1;
  }
  return { repeated, different };
}
