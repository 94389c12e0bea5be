import { randomUUID } from 'node:crypto';
import { publicId } from '../../libs/views/ids.js';
import type { Call, EventRow, Heard, Records, Told } from './records.js';

const ids = {
  account: randomUUID(), connection: randomUUID(), intent: randomUUID(), charge: randomUUID(), refund: randomUUID(), endpoint: randomUUID(), operation: randomUUID(),
};
export const shownIds = {
  intent: publicId('pi', 'staging', ids.intent), charge: publicId('ch', 'staging', ids.charge), refund: publicId('re', 'staging', ids.refund),
  endpoint: publicId('webhook_endpoint', 'staging', ids.endpoint),
};

function told(object: 'payment_intent' | 'charge' | 'refund', status: string, amounts: Told['amounts'], more: Partial<Told> = {}): Told {
  const id = { payment_intent: shownIds.intent, charge: shownIds.charge, refund: shownIds.refund }[object];
  return { id, object, status, outcome: null, amounts, processorPaymentId: null, processorRefundId: null, outOfBand: false, ...more };
}

const paid = { processorPaymentId: 'sim_1' };
const nothing = { amount: 1_000, authorized: 0, captured: 0, refunded: 0 };
const taken = { amount: 1_000, authorized: 1_000, captured: 1_000 };

/** [object UUID, type, what it says] in the order of one payment of 1000 with a refund of 300. */
const history: [string, string, Told][] = [
  [ids.intent, 'payment_intent.created', told('payment_intent', 'processing', { amount: 1_000, received: 0, refunded: 0, capturable: 0 })],
  [ids.charge, 'charge.created', told('charge', 'pending', nothing)],
  [ids.charge, 'charge.succeeded', told('charge', 'succeeded', { ...taken, refunded: 0 }, paid)],
  [ids.intent, 'payment_intent.succeeded', told('payment_intent', 'succeeded', { amount: 1_000, received: 1_000, refunded: 0, capturable: 0 }, paid)],
  [ids.refund, 'refund.created', told('refund', 'pending', { amount: 300 })],
  [ids.charge, 'charge.updated', told('charge', 'succeeded', { ...taken, refunded: 300 }, paid)],
  [ids.refund, 'refund.updated', told('refund', 'succeeded', { amount: 300 }, { processorRefundId: 'sim_op_1' })],
  [ids.charge, 'charge.refunded', told('charge', 'succeeded', { ...taken, refunded: 300 }, paid)],
  [ids.intent, 'payment_intent.updated', told('payment_intent', 'succeeded', { amount: 1_000, received: 1_000, refunded: 300, capturable: 0 }, paid)],
];

function eventsOf(): EventRow[] {
  const sequences = new Map<string, number>();
  return history.map(([object, type, data], index) => {
    const sequence = (sequences.get(object) ?? 0) + 1;
    sequences.set(object, sequence);
    return { id: randomUUID(), type, object, sequence, digest: `digest ${index}`, told: data, created: 2_000 + index };
  });
}

function heardOf(events: readonly EventRow[]): Heard[] {
  return events.map((event, index) => ({
    endpoint: shownIds.endpoint, number: index + 1, at: event.created + 5, eventId: publicId('event', 'staging', event.id), type: event.type,
    sequence: event.sequence, object: event.told.id, verified: true, digest: event.digest, told: event.told, answered: 200,
  }));
}

function call(number: number, path: string, answer: object): Call {
  return { number, account: ids.account, journey: 'one', method: 'POST', path, key: `key-${number}`, body: null, at: 2_000, status: 201, answer, lost: null };
}

/** Records of one payment of 1000 with a refund of 300 that agree with each other; new objects at each call. */
export function cleanRecords(): Records {
  const events = eventsOf();
  const reference = `${shownIds.intent}-1`;
  const intent = {
    id: ids.intent, status: 'succeeded', amount: 1_000, capturable: 0, received: 1_000, refunded: 300, currency: 'eur', reference: shownIds.intent, invoice: null,
    metadata: { journey: 'one' }, driver: 'workflow', settled: true, version: 3, next_action: null, lease_until: null,
  };
  const charge = {
    id: ids.charge, intent: ids.intent, processor: ids.connection, reference, status: 'succeeded', outcome: 'approved', amount: 1_000, authorized: 1_000,
    captured: 1_000, refunded: 300, currency: 'eur', processor_payment: 'sim_1', voided: false, late: false, next_lookup: null,
  };
  const published = { object: 'payment_intent', id: shownIds.intent, status: 'succeeded', amount_atom: 1_000, currency: 'eur' };
  const amounts = { amount_atom_received: 1_000, amount_atom_refunded: 0, amount_atom_capturable: 0 };
  return {
    calls: [
      call(1, '/payment-intents/', { ...published, ...amounts, processor_payment_intent_id: 'sim_1' }),
      call(2, '/refunds/', { object: 'refund', id: shownIds.refund, status: 'succeeded', amount_atom: 300, processor_refund_id: 'sim_op_1' }),
    ],
    payments: [{ id: 'sim_1', connection: ids.connection, reference, status: 'captured', amount: 1_000, authorized: 1_000, captured: 1_000, refunded: 300, currency: 'eur' }],
    operations: [{ id: 'sim_op_1', connection: ids.connection, kind: 'refund', reference: `${reference}-refund-1`, payment: 'sim_1', amount: 300, status: 'succeeded', outOfBand: false }],
    heard: heardOf(events),
    books: {
      account: ids.account,
      intents: [intent],
      charges: [charge],
      operations: [{
        id: ids.operation, intent: ids.intent, charge: ids.charge, type: 'refund', purpose: 'refund', amount: 300, status: 'succeeded', refund: ids.refund,
        reference: `${reference}-refund-1`, next_lookup: null,
      }],
      refunds: [{ id: ids.refund, charge: ids.charge, intent: ids.intent, amount: 300, status: 'succeeded', out_of_band: false, processor_refund: 'sim_op_1' }],
      invoices: [],
      subscriptions: [],
      clocks: [],
      events,
      deliveries: events.map(({ id }) => ({ id: randomUUID(), event: id, endpoint: ids.endpoint, status: 'delivered' })),
      endpoints: [{ id: ids.endpoint, created: 1_000 }],
      attention: [],
      evidence: [],
      others: [],
    },
    driven: new Set(),
    readAt: 10_000,
  };
}
