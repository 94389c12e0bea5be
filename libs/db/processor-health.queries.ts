import { sql } from 'drizzle-orm';
import type { Db } from './client.js';

export interface RecentCalls {
  samples: number;
  bad: number;
}

/** Attempts of the last five minutes at one connection, among the latest 500 of its account. */
export async function recentCalls(db: Db, accountId: string, processorId: string): Promise<RecentCalls> {
  const { rows } = await db.execute<{ samples: number; bad: number }>(sql`
    select count(*)::int as samples, (count(*) filter (where outcome_class in ('not_sent', 'processor_error', 'unknown')))::int as bad
      from (select processor_id, outcome_class, first_sent_at from charges where account_id = ${accountId} order by id desc limit 500) latest
     where processor_id = ${processorId} and outcome_class is not null and first_sent_at > clock_timestamp() - interval '5 minutes'`);
  return rows[0]!;
}
