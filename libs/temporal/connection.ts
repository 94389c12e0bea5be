import { Client, Connection } from '@temporalio/client';

export interface TemporalOptions {
  /** Frontend, `host:port`. */
  address: string;
  namespace: string;
}

export interface Temporal {
  client: Client;
  /** Whether the service answers within two seconds. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

/** A client that dials when it is first used, so that a process starts and answers 503 while Temporal is away. */
export function connectTemporal({ address, namespace }: TemporalOptions): Temporal {
  const connection = Connection.lazy({ address });
  return {
    client: new Client({ connection, namespace }),
    async isReachable() {
      try {
        await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.describeNamespace({ namespace }));
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

/** gRPC statuses that say "not now": deadline exceeded, resource exhausted, unavailable. */
const outageStatuses = new Set([4, 8, 14]);

/** Whether an error of the client means that Temporal cannot be reached. */
export function isTemporalOutage(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    const { code, metadata } = current as { code?: unknown; metadata?: unknown };
    if (typeof code === 'number' && metadata !== undefined && outageStatuses.has(code)) return true;
  }
  return false;
}
