import { intentTable } from '../../../libs/domain/payment/payment.machine.js';
import type { IntentStatus } from '../../../libs/domain/payment/payment-status.js';
import { publicId, type IdKind } from '../../../libs/views/ids.js';
import type { ChargeRow, Records } from '../records.js';
import type { LedgerPayment } from '../ledger.js';

export function shown(kind: IdKind, uuid: string): string {
  return publicId(kind, 'staging', uuid);
}

export function groupedBy<T>(values: readonly T[], key: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(key(value));
    if (group) group.push(value);
    else groups.set(key(value), [value]);
  }
  return groups;
}

export function indexed<T>(values: readonly T[], key: (value: T) => string): Map<string, T> {
  return new Map(values.map((value) => [key(value), value]));
}

/** Where a charge and the provider's payment meet: the connection and the reference that was sent. */
export function meeting(of: { connection: string; reference: string } | ChargeRow): string {
  return `${'connection' in of ? of.connection : of.processor} ${of.reference}`;
}

/** The reference of an intent inside the reference of one of its attempts. */
export function intentReference(attempt: string): string {
  return attempt.replace(/-\d+$/, '');
}

/** Objects (UUIDs) with an open line on the attention list. */
export function awaited({ books }: Records): Set<string> {
  return new Set(books.attention.map((line) => line.object));
}

export function paymentsByMeeting({ payments }: Records): Map<string, LedgerPayment[]> {
  return groupedBy(payments, meeting);
}

/** Every status that a payment intent may have after this one. */
export function reachableFrom(status: string): Set<string> {
  const found = new Set([status]);
  for (const from of found) for (const to of Object.values(intentTable[from as IntentStatus] ?? {})) found.add(to);
  return found;
}
