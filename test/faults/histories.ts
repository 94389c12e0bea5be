import { Client, Connection } from '@temporalio/client';
import { parsePublicId } from '../../libs/views/ids.js';
import type { Random } from './random.js';
import type { SecretSearch } from './secrets.js';

export interface DurableSide {
  /** Payment intents (UUIDs) whose workflow runs. */
  driven: Set<string>;
  /** Workflow ids of the histories that were searched. */
  searched: string[];
  /** Why workflow tasks of those failed; a killed worker leaves time-outs, a fault in the workflow's own code a failure. */
  failures: string[];
}

/** Asks Temporal which payments it drives, and searches a sample of its histories as an export shows them. */
export async function readDurableSide(
  at: { address: string; namespace: string },
  { search, random, sample }: { search: SecretSearch; random: Random; sample: number },
): Promise<DurableSide> {
  const connection = await Connection.connect({ address: at.address });
  try {
    const client = new Client({ connection, namespace: at.namespace });
    const driven = new Set<string>();
    const ids: string[] = [];
    for await (const { workflowId, status } of client.workflow.list()) {
      ids.push(workflowId);
      const payment = workflowId.startsWith('payment/') ? parsePublicId('pi', 'staging', workflowId.slice('payment/'.length)) : null;
      if (payment && status.name === 'RUNNING') driven.add(payment);
    }
    const searched = Array.from({ length: Math.min(sample, ids.length) }, () => random.pick(ids));
    const failures: string[] = [];
    for (const workflowId of searched) {
      const history = await client.workflow.getHandle(workflowId).fetchHistory();
      for (const { workflowTaskFailedEventAttributes: failed } of history.events ?? []) {
        if (failed) failures.push(`${workflowId}: ${failed.failure?.message || `cause ${failed.cause}`}`);
      }
      search.search(opened(history), `history of ${workflowId}`);
    }
    return { driven, searched, failures };
  } finally {
    await connection.close();
  }
}

/** The texts of a history, those of its payloads included. */
function opened(part: unknown): string {
  if (typeof part === 'string') return part;
  if (part instanceof Uint8Array) return Buffer.from(part).toString('latin1');
  if (typeof part !== 'object' || part === null) return '';
  return Object.values(part).map(opened).filter(Boolean).join('\n');
}
