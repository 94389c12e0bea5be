import { loadConfig } from '../../../libs/config/config.js';
import { startWorkerProcess } from './worker.process.js';

const config = loadConfig();
const worker = await startWorkerProcess(config);
const { log } = worker;

process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'));

let stopping = false;

/** Takes no new work, finishes what it has begun, leaves. A second signal leaves at once. */
async function stop(reason: string): Promise<void> {
  if (stopping) process.exit(1);
  stopping = true;
  log.info({ signal: reason }, 'stopping');
  setTimeout(() => process.exit(1), (config.shutdownGraceSeconds + 5) * 1000).unref();
  await worker.stop();
  log.info('stopped');
  process.exit(0);
}

process.on('SIGTERM', (signal) => void stop(signal));
process.on('SIGINT', (signal) => void stop(signal));

log.info({ queues: config.queues, port: worker.port }, 'ready');

await worker.failed.catch((err: unknown) => {
  if (stopping) return;
  log.error({ err }, 'a worker failed');
  process.exit(1);
});
