import pg from 'pg';
import type { Client } from './account.js';
import { eventually, shared } from './stack.js';

/** Lists show nothing beyond the oldest transaction that still runs: when an event made now is listed, so is all that was told before. */
export async function untilListed(admin: Client): Promise<void> {
  const { status, body, text } = await admin.post('/customers/', { email: 'marker@example.com' });
  if (status !== 201) throw new Error(text);
  await eventually(async () => (await admin.get(`/events?object_id=${body.id}&limit=1`)).body.data.length === 1);
}

/** The same without leaving an event: lists in the order of commits show all that was committed in this cluster before the call. */
export async function untilShown(databaseUrl = shared.databaseUrlStaging): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: [edge] } = await client.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next');
    await eventually(async () => (await client.query('select 1 where pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8', [edge!.next])).rowCount === 1, { intervalMs: 10 });
  } finally {
    await client.end();
  }
}
