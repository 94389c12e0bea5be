import { Pool } from 'undici';
import type { TestStack } from '../../apps/cli/src/stack/test-stack.js';
import { parsePublicId } from '../../libs/views/ids.js';
import type { Stage } from './stage.js';
import { startSubprocess } from './subprocess.js';

export interface Reads {
  /** GET of a customer that nobody else uses. */
  ours(): Promise<void>;
  /** A Fastify route with the same select and nothing else. */
  bare(): Promise<void>;
  close(): Promise<void>;
}

/** GET by id beside what it is measured against. */
export async function openReads(stack: TestStack, stage: Stage): Promise<Reads> {
  const server = await startSubprocess('bare-server', { BENCH_DATABASE_URL: stack.databaseUrl('staging') });
  const http = new Pool(server.url, { connections: 64 });
  const customer = await stage.call('POST', '/customers/', { email: `read.${Date.now()}@example.com`, first_name: 'Ada' });
  const uuid = parsePublicId('cus', 'staging', customer.id as string);
  return {
    ours: () => read(stage, stage.http, customer.id as string),
    bare: () => read(stage, http, String(uuid)),
    async close() {
      await http.close();
      server.stop();
    },
  };
}

export async function read({ headers }: Stage, http: Pool, id: string): Promise<void> {
  const answer = await http.request({ method: 'GET', path: `/customers/${id}`, headers });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`GET of customer ${id} answered ${answer.statusCode}`);
}
