import { Context } from '@temporalio/activity';

/**
 * Tells the server that the activity is alive while the work runs, so that a dead worker is noticed within its heartbeat
 * time-out. A local activity has none: its worker is the workflow's.
 */
export async function beating<T>(everyMs: number, work: (context: Context) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = context.info.isLocal ? null : setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work(context);
  } finally {
    if (heartbeat) clearInterval(heartbeat);
  }
}
