import { sql } from 'drizzle-orm';
import type { Row } from './batch.js';
import type { Db } from './client.js';
import { invoiceItems, invoices, type InvoiceItemRow, type InvoiceRow } from './schema/index.js';
import { rowOf } from './statement.js';
import { slot, template } from './template.js';
import { readTogether } from './together.js';

export interface InvoiceStanding {
  row: InvoiceRow;
  lines: InvoiceItemRow[];
  /** Of its last event. */
  sequence: number;
}

const id = slot('id');
const account = slot('account');

const reads = [
  sql`select * from invoices where id = ${id} and account_id = ${account}`,
  sql`select * from invoice_items where invoice_id = ${id} and deleted_at is null order by id`,
  sql`select coalesce(max(sequence), 0) as last from events where object_id = ${id}`,
].map((query) => template<'id' | 'account'>(query));

/** With what its event shows, in one round trip and without a lock: a write must find the version that was read. */
export async function invoiceAsItStands(db: Db, { accountId, invoiceId }: { accountId: string; invoiceId: string }): Promise<InvoiceStanding | null> {
  const answers = await readTogether(db, reads.map((read) => read(db, { id: invoiceId, account: accountId })));
  const [[row], lines, [last]] = answers as [Row[], Row[], Row[]];
  return row ? { row: rowOf(invoices, row), lines: lines.map((line) => rowOf(invoiceItems, line)), sequence: Number(last!.last) } : null;
}
