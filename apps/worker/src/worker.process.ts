import { createServer, type AddressInfo } from 'node:net';
import { makeTelemetryFilterString, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import type { Config } from '../../../libs/config/config.js';
import { connect, type Database } from '../../../libs/db/client.js';
import { statementsSent } from '../../../libs/db/prepared-client.js';
import { createSecretBox } from '../../../libs/db/secret.js';
import { openWakeSender } from '../../../libs/db/wake.js';
import { breakerGauge } from '../../../libs/payments/breakers.js';
import { createPaymentDeps } from '../../../libs/payments/payment.deps.js';
import { createLog, type Logger } from '../../../libs/telemetry/log.js';
import { counter, createMetrics, gauge } from '../../../libs/telemetry/metrics.js';
import { connectTemporal, type Temporal } from '../../../libs/temporal/connection.js';
import { composeActivities, type Composition } from './activities.js';
import { serveHealth } from './health.js';
import { startLoops } from './loops.js';
import { createWorkers } from './workers.js';

export interface WorkerProcess {
  log: Logger;
  /** Of health and metrics. */
  port: number;
  /** Rejects when a worker ends although nobody told it to. */
  failed: Promise<void>;
  stop(): Promise<void>;
}

const connectAttempts = 30;

/** Everything that runs workflows, activities and loops of one environment. */
export async function startWorkerProcess(config: Config): Promise<WorkerProcess> {
  const log = createLog({ process: 'worker', environment: config.environment, level: config.logLevel });
  const registry = createMetrics({ process: 'worker', environment: config.environment });
  const metrics = await installRuntime(log);
  const database = connect(config.databaseUrl, {
    max: config.databasePoolSize,
    applicationName: 'signalbox-worker',
    onError: (err) => log.warn({ err }, 'database connection lost'),
  });
  const connection = await connectWorker(config, log);
  const temporal = connectTemporal({ address: config.temporalAddress, namespace: config.temporalNamespace });
  const composition = compose(config, { database, temporal, log });
  gauge(registry, breakerGauge(composition.payments.breakers));
  counter(registry, { name: 'signalbox_db_statements_total', help: 'Statements sent to the database, those of transactions included.', read: statementsSent });
  const wakeSender = openWakeSender({ databaseUrl: config.databaseUrl, onError: (err) => log.warn({ err }, 'wake sender lost its connection') });
  const workers = await createWorkers(config, { connection, activities: composeActivities(composition) });
  const runs = workers.map((worker) => worker.run());
  const stopLoops = startLoops(composition);
  const health = await serveHealth({ config, registry, temporalMetrics: metrics, isReady: () => isReady(workers, { database, temporal }) });
  return {
    log,
    port: health.port,
    failed: Promise.race([Promise.all(runs).then(() => undefined), ...runs]),
    async stop() {
      composition.stopping.abort();
      await stopLoops();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.allSettled(runs);
      await wakeSender.close();
      await Promise.allSettled([connection.close(), temporal.close(), composition.payments.processors.close(), health.close()]);
      await database.close();
    },
  };
}

function compose(config: Config, { database, temporal, log }: { database: Database; temporal: Temporal; log: Logger }): Composition {
  const secrets = createSecretBox(config.secretKeys);
  const payments = createPaymentDeps({
    db: database.db,
    environment: config.environment,
    secrets,
    simulatorUrl: config.simulatorUrl,
    simulatorSecret: config.simulatorSecret,
    callbacksTo: config,
    local: config.local,
    owner: `worker:${process.pid}`,
    lookupOffsets: config.lookupOffsets,
    breaker: config.breaker,
    followUpsAtOnce: Math.ceil(config.paymentSlots / 5),
    warn: (message, { payment_intent: id, error }) => log.warn({ payment_intent_id: id, reason: error }, message),
  });
  return { config, log, database, db: database.db, client: temporal.client, secrets, payments, stopping: new AbortController() };
}

/**
 * Our own signal handling drains; the SDK's would end the workers before the posts under way. The SDK serves its metrics on a
 * loopback port of its own; they are read from there. Returns how.
 */
async function installRuntime(log: Logger): Promise<() => Promise<string>> {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message) => log[lowered(level)](message),
      trace: (message) => log.trace(message),
      debug: (message) => log.debug(message),
      info: (message) => log.debug(message),
      warn: (message, meta) => log.warn({ reason: String(meta?.error ?? '') }, message),
      error: (message, meta) => log.error({ err: meta?.error }, message),
    },
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) },
      metrics: { prometheus: { bindAddress } },
    },
  });
  return async () => (await fetch(`http://${bindAddress}/metrics`)).text();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function lowered(level: string): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  const known = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  return known[level as keyof typeof known] ?? 'info';
}

/** Temporal may come up after us. */
async function connectWorker(config: Config, log: Logger): Promise<NativeConnection> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await NativeConnection.connect({ address: config.temporalAddress });
    } catch (err) {
      if (attempt === connectAttempts) throw err;
      log.warn({ err, attempt }, 'Temporal cannot be reached yet');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

async function isReady(workers: Worker[], { database, temporal }: { database: Database; temporal: Temporal }): Promise<boolean> {
  if (workers.some((worker) => worker.getState() !== 'RUNNING')) return false;
  const answers = await Promise.all([
    temporal.isReachable(),
    database.pool.query('select 1').then(
      () => true,
      () => false,
    ),
  ]);
  return answers.every(Boolean);
}
