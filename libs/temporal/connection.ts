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
  forgetScopesAfterUse(connection);
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

/**
 * Once a deadline was set, Node 20 follows the context of every promise of the process for good, a tenth of what an inline payment
 * costs: it stops when no deadline stands. Whoever needs an abort signal or metadata sets them inside `withDeadline`.
 */
function forgetScopesAfterUse(connection: Connection): void {
  const within = connection.withDeadline.bind(connection);
  let open = 0;
  connection.withDeadline = async (deadline, work) => {
    open += 1;
    try {
      return await within(deadline, work);
    } finally {
      open -= 1;
      if (open === 0) connection.callContextStorage.disable();
    }
  };
}

/** gRPC statuses that say "not now": deadline exceeded, resource exhausted, unavailable. */
const outageStatuses = new Set([4, 8, 14]);
const failedPrecondition = 9;

/** The workflow's last task failed, for example because its worker was killed: updates are refused until a worker has tried again. */
export function isWorkflowTaskFailed(error: unknown): boolean {
  return causesOf(error).some((each) => (each as { code?: unknown }).code === failedPrecondition && /Workflow Task in failed state/i.test(each.message));
}

/** Whether an error of the client means that Temporal, or the workflow's worker, cannot answer now. */
export function isTemporalOutage(error: unknown): boolean {
  const away = causesOf(error).some((each) => {
    const { code, metadata } = each as { code?: unknown; metadata?: unknown };
    return typeof code === 'number' && metadata !== undefined && outageStatuses.has(code);
  });
  return away || isWorkflowTaskFailed(error);
}

function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let current = error; current instanceof Error && found.length < 5; current = current.cause) found.push(current);
  return found;
}
