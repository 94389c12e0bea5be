import { and, eq, sql } from 'drizzle-orm';
import { connect } from '../../libs/db/client.js';
import { webhookEndpoints } from '../../libs/db/schema/index.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { eventually, shared } from './stack.js';

/** Waits until no drain of the endpoint runs: one goes on for a moment, with what it read of the endpoint, also when its dispatcher was ended. */
export async function untilUndrained(endpoint: string): Promise<void> {
  const { db, close } = connect(shared.databaseUrlStaging, { max: 1 });
  const isOver = and(eq(webhookEndpoints.id, parsePublicId('webhook_endpoint', 'staging', endpoint)!), sql`coalesce(drain_until, '-infinity') < clock_timestamp()`);
  try {
    await eventually(async () => (await db.$count(webhookEndpoints, isOver)) === 1, { timeoutMs: 60_000 });
  } finally {
    await close();
  }
}
