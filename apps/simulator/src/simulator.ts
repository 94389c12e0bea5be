import Fastify, { type FastifyInstance } from 'fastify';
import { Book } from './book.js';
import { CallbackPoster } from './callback.poster.js';
import { CallbackQueue } from './callback.queue.js';
import { Refusal } from './call.js';
import { challengeRoutes } from './challenge.routes.js';
import { controlRoutes } from './control.routes.js';
import { Ledger } from './ledger.js';
import { methodRoutes } from './method.routes.js';
import { operationRoutes } from './operation.routes.js';
import { ledgerRoutes, paymentRoutes, reportRoutes } from './payment.routes.js';

export interface SimulatorOptions {
  ledgerFile: string;
  /** How long a pending payment stays pending, in milliseconds. */
  settleMs: number;
  /** What callbacks are signed with; null: none is posted. */
  secret: Buffer | null;
  /** The ledger could not be written: the process must end, because memory knows more than the disk. */
  onLost: (error: Error) => void;
}

/** The whole simulator, ready to listen. Closing it ends hanging calls at once, as a crash would. */
export async function createSimulator(options: SimulatorOptions): Promise<FastifyInstance> {
  const ledger = await Ledger.open(options.ledgerFile, options.onLost);
  const callbacks = new CallbackQueue(options.settleMs);
  const book = new Book(ledger, (entry, known) => callbacks.see(entry, known));
  const app = Fastify({ logger: false, forceCloseConnections: true, bodyLimit: 65_536 });
  app.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof Refusal) {
      await book.durable();
      return reply.code(error.status).send({ error: { code: error.code, message: error.message } });
    }
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    if (status < 500) return reply.code(422).send({ error: { code: 'invalid_request', message: 'unreadable body' } });
    return reply.code(500).send({ error: { code: 'internal', message: 'internal error' } });
  });
  app.addHook('onRequest', async () => book.settle(Date.now()));
  app.get('/healthz', async () => ({ status: 'ok' }));
  paymentRoutes(app, book, options.settleMs);
  reportRoutes(app, book);
  operationRoutes(app, book, options.settleMs);
  methodRoutes(app, book);
  challengeRoutes(app, book);
  ledgerRoutes(app, book);
  controlRoutes(app, book, options.settleMs);
  const poster = options.secret ? new CallbackPoster(callbacks, { book, secret: options.secret }) : null;
  const clock = setInterval(() => book.settle(Date.now()), 250);
  app.addHook('onClose', async () => {
    clearInterval(clock);
    await poster?.stop();
    await ledger.close();
  });
  return app;
}
