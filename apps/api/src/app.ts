import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { AppModule } from './app.module.js';
import { serveDocs } from './docs/docs.adapter.js';
import { buildDocument } from './docs/docs.document.js';
import { CallersService } from './kernel/callers.service.js';
import type { Infrastructure } from './kernel/infrastructure.js';
import { NestLog } from './kernel/nest.log.js';
import { ProblemsFilter } from './kernel/problems.filter.js';
import { createAdapter, prepareServer } from './kernel/server.adapter.js';

/** The whole API, ready to listen; nothing is dialled. */
export async function createApp(infrastructure: Infrastructure): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(infrastructure), createAdapter(infrastructure), {
    bodyParser: false,
    logger: new NestLog(infrastructure.log),
    abortOnError: false,
  });
  const server = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const routes = await prepareServer(server, infrastructure, app.get(CallersService));
  app.useGlobalFilters(new ProblemsFilter(infrastructure, (path) => routes.allowedMethods(path)));
  let document: OpenAPIObject | undefined;
  await serveDocs(server, () => (document ??= buildDocument(app)));
  await app.init();
  return app;
}
