/** SQLSTATEs with which Postgres says that it cannot serve now: shutting down, starting, out of connections, read only. */
const outageStates = new Set(['57P01', '57P02', '57P03', '53300', '25006', '08000', '08001', '08003', '08004', '08006']);
const networkCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const driverTexts = [
  'Connection terminated', 'timeout exceeded when trying to connect', 'Client has encountered a connection error', 'Client was closed',
];

/** Whether an error of the driver, or one that wraps it, means that Postgres cannot be reached; the change may be retried. */
export function isDatabaseOutage(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    const { code } = current as { code?: unknown };
    if (typeof code === 'string' && (outageStates.has(code) || networkCodes.has(code))) return true;
    if (driverTexts.some((text) => current instanceof Error && current.message.startsWith(text))) return true;
    if (current instanceof AggregateError && current.errors.some((inner) => isDatabaseOutage(inner))) return true;
  }
  return false;
}

/** Deadlock and serialisation failure: the transaction was undone because of another one, and may be repeated. */
const collisionStates = new Set(['40P01', '40001']);

export function isCollision(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    if (collisionStates.has((current as { code?: string }).code ?? '')) return true;
  }
  return false;
}
