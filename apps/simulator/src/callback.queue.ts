import type { CallbackBody } from '../../../libs/processors/simulator/simulator.answer.js';
import type { Book } from './book.js';
import type { LedgerEntry, PaymentRecord } from './ledger-entry.js';
import { toldBody } from './payment.answer.js';

/** What is to be told about one payment, as it stood then. */
export interface Callback {
  /** The entry's: the same after a restart. */
  id: string;
  url: string;
  connection: string;
  reference: string;
  body: string;
  /** Epoch milliseconds. */
  dueAt: number;
  /** How often it is still to be delivered. */
  copies: number;
  failures: number;
}

interface Told {
  type: string;
  payment: string;
  delayMs?: number;
  copies?: number;
}

/**
 * The callbacks that the ledger asks for and that nobody has accepted yet. They follow from the entries alone, so after a
 * restart the same ones are due. What the answer of a request has told is not told again.
 */
export class CallbackQueue {
  private readonly waiting = new Map<string, Callback>();

  constructor(private readonly settleMs: number) {}

  see(entry: LedgerEntry, book: Book): void {
    if (entry.type === 'callback_delivered') {
      this.waiting.delete(entry.event);
      this.release(entry, Date.parse(entry.at) + this.settleMs);
    }
    const told = this.toldBy(entry, book);
    const payment = told && book.payments.get(told.payment);
    if (told && payment?.callback_url) this.add(entry, told, { payment, url: payment.callback_url, book });
  }

  due(now: number): Callback[] {
    return [...this.waiting.values()].filter((callback) => callback.dueAt <= now);
  }

  private add(entry: LedgerEntry, told: Told, { payment, url, book }: { payment: PaymentRecord; url: string; book: Book }): void {
    const id = `sim_evt_${entry.seq}`;
    const body: CallbackBody = { id, type: told.type, created_at: entry.at, payment: toldBody(book, payment, 'http://127.0.0.1') };
    this.waiting.set(id, {
      id,
      url,
      connection: payment.connection,
      reference: payment.reference,
      body: JSON.stringify(body),
      dueAt: Date.parse(entry.at) + (told.delayMs ?? 0),
      copies: told.copies ?? 1,
      failures: 0,
    });
  }

  /** What was held back follows what has arrived. */
  private release({ connection, reference }: Pick<PaymentRecord, 'connection' | 'reference'>, dueAt: number): void {
    for (const callback of this.waiting.values()) {
      if (callback.connection === connection && callback.reference === reference && callback.dueAt === Number.POSITIVE_INFINITY) callback.dueAt = dueAt;
    }
  }

  private toldBy(entry: LedgerEntry, book: Book): Told | null {
    switch (entry.type) {
      case 'payment': {
        const { id, outcome, status } = entry.record;
        if (outcome === 'duplicate_callback') return { type: `payment.${status}`, payment: id, copies: 2 };
        if (outcome === 'reordered_callbacks') return { type: `payment.${status}`, payment: id, delayMs: Number.POSITIVE_INFINITY };
        return null;
      }
      case 'payment_changed': {
        const { id, outcome, status } = entry.record;
        return { type: `payment.${status}`, payment: id, delayMs: outcome === 'late_callback' ? 3 * this.settleMs : 0 };
      }
      case 'operation':
        return entry.record.out_of_band && entry.record.payment ? { type: `${entry.record.kind}.created`, payment: entry.record.payment } : null;
      case 'operation_changed':
        return entry.record.payment ? { type: `${entry.record.kind}.${entry.record.status ?? 'succeeded'}`, payment: entry.record.payment } : null;
      case 'dispute':
        return { type: `dispute.${entry.record.status === 'open' ? 'opened' : entry.record.status}`, payment: book.disputes.get(entry.record.id)!.payment };
      default:
        return null;
    }
  }
}
