import 'reflect-metadata';
import { loadConfig } from '../../../libs/config/config.js';
import { openWakeSender } from '../../../libs/db/wake.js';
import { serveMetrics } from '../../../libs/telemetry/metrics.js';
import { createApp } from './app.js';
import { Infrastructure } from './kernel/infrastructure.js';

const config = loadConfig();
const infrastructure = new Infrastructure(config);
const { log } = infrastructure;

process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'));

const wakes = openWakeSender({ databaseUrl: config.databaseUrl, onError: (err) => log.warn({ err }, 'wake sender lost its connection') });
const app = await createApp(infrastructure);
await app.listen(config.apiPort, config.apiHost);
const metrics = await serveMetrics(infrastructure.metrics, { host: config.apiHost, port: config.metricsPort });
const { port } = app.getHttpServer().address() as { port: number };
log.info({ url: config.publicUrl, host: config.apiHost, port, docs: `${config.publicUrl}/docs` }, 'ready');

let stopping = false;

/**
 * Takes no new connection, answers what it has begun, leaves. Connections that callers keep alive are closed as soon as they
 * are idle. A second signal, or the end of the grace time, leaves at once.
 */
async function stop(signal: string): Promise<void> {
  if (stopping) process.exit(1);
  stopping = true;
  log.info({ signal }, 'stopping');
  setTimeout(() => process.exit(1), config.shutdownGraceSeconds * 1000 + 1000).unref();
  const idle = setInterval(() => app.getHttpServer().closeIdleConnections(), 50);
  await app.close();
  clearInterval(idle);
  await Promise.allSettled([metrics.close(), wakes.close(), infrastructure.close()]);
  log.info('stopped');
  process.exit(0);
}

process.on('SIGTERM', (signal) => void stop(signal));
process.on('SIGINT', (signal) => void stop(signal));
