import pino from 'pino';
import { createSimulator } from './simulator.js';

const log = pino({ name: 'simulator', level: process.env.LOG_LEVEL ?? 'info' });

function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  log.fatal({ variable: name }, 'a required environment variable is missing');
  process.exit(78);
}

const app = await createSimulator({
  ledgerFile: required('SIMULATOR_LEDGER'),
  settleMs: Number(process.env.SIMULATOR_SETTLE_MS ?? 2_000),
  secret: process.env.SIMULATOR_SECRET ? Buffer.from(process.env.SIMULATOR_SECRET, 'base64') : null,
  onLost: (error) => {
    log.fatal({ reason: error.message }, 'the ledger cannot be written');
    process.exit(1);
  },
});
const address = await app.listen({ host: '127.0.0.1', port: Number(required('SIMULATOR_PORT')) });
log.info({ address }, 'ready');

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void app.close().then(() => process.exit(0));
  });
}
