import { Client, Connection } from '@temporalio/client';
import { shared } from './stack.js';

/** The engine as an operator's tools see it. */
export interface Engine {
  client: Client;
  close(): Promise<void>;
}

/** Of the shared stack's staging environment, or of another stack. */
export async function openEngine({ address, namespace } = { address: shared.temporalAddress, namespace: shared.namespaceStaging }): Promise<Engine> {
  const connection = await Connection.connect({ address });
  return { client: new Client({ connection, namespace }), close: () => connection.close() };
}
