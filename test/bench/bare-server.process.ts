import { eq, sql } from 'drizzle-orm';
import fastify from 'fastify';
import { connect } from '../../libs/db/client.js';
import { customers } from '../../libs/db/schema/index.js';

/** What GET by id is measured against: a Fastify route with the same select and nothing else. */
const { db } = connect(process.env.BENCH_DATABASE_URL!, { max: 10 });
const byId = db.select().from(customers).where(eq(customers.id, sql.placeholder('id'))).prepare('bare_customer');
const server = fastify();
server.get<{ Params: { id: string } }>('/customers/:id', async ({ params }) => {
  const [row] = await byId.execute({ id: params.id });
  return row;
});
process.send?.({ url: await server.listen({ port: 0, host: '127.0.0.1' }) });
process.on('disconnect', () => process.exit(0));
