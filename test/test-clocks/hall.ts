import { expect } from '@jest/globals';
import type { Client } from '../support/account.js';
import { untilListed } from '../support/events.js';
import { eventually } from '../support/stack.js';
import { cardOf, made } from '../payments/shop.js';
import type { Store } from '../subscriptions/store.js';

/** A store whose customer lives on a clock of its own. */
export interface Hall extends Store {
  clock: string;
}

export async function onClock(store: Store, frozenTime: string, fields: object = {}): Promise<Hall> {
  const clock = await made(store.admin.post('/test-clocks/', { frozen_time: frozenTime }));
  const customer = await made(store.admin.post('/customers/', { email: 'timed@example.com', test_clock_id: clock, ...fields }));
  const hall = { ...store, customer, clock };
  const card = await cardOf(hall);
  const chosen = await store.admin.put(`/customers/${customer}`, { default_payment_method_id: card });
  if (chosen.status !== 201) throw new Error(chosen.text);
  return { ...hall, card };
}

export async function clockOf({ admin }: { admin: Client }, clock: string) {
  return (await admin.get(`/test-clocks/${clock}`)).body;
}

/** Advances and waits until the clock is ready there. */
export async function advanceTo(hall: Hall, frozenTime: string, timeoutMs = 90_000) {
  const answer = await hall.admin.post(`/test-clocks/${hall.clock}/advance`, { frozen_time: frozenTime });
  if (answer.status !== 200) throw new Error(answer.text);
  expect(answer.body).toMatchObject({ status: 'advancing', target_time: new Date(frozenTime).toISOString() });
  return isReady(hall, frozenTime, timeoutMs);
}

export function isReady(hall: Hall, frozenTime: string, timeoutMs = 90_000) {
  return eventually(
    async () => {
      const clock = await clockOf(hall, hall.clock);
      expect(clock).toMatchObject({ status: 'ready', frozen_time: new Date(frozenTime).toISOString() });
      return clock;
    },
    { timeoutMs },
  );
}

export interface Told {
  type: string;
  object: string;
  at: string;
  clock: string | null;
  sequence: number;
}

/** Events of an object in order, with both of their times. */
export async function toldOf(hall: Pick<Hall, 'admin'>, objectId: string): Promise<Told[]> {
  await untilListed(hall.admin);
  const found: Told[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await hall.admin.get(`/events?object_id=${objectId}&limit=100${cursor && `&cursor=${cursor}`}`);
    for (const event of body.data) found.push({ type: event.type, object: objectId, at: event.created_at, clock: event.clock_time, sequence: event.sequence });
    if (!body.has_more) return found.sort((x, y) => x.sequence - y.sequence);
    cursor = body.next_cursor;
  }
}
