// One stack for all integration specs, started from the compiled code. Specs find its addresses in process.env.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export default async function setup() {
  const dist = resolve(process.env.SIGNALBOX_DIST ?? 'dist');
  process.env.SIGNALBOX_DIST = dist;
  const entry = join(dist, 'apps/cli/src/stack/test-stack.js');
  if (!existsSync(entry)) throw new Error(`${entry} is missing: compile first (npm run build, or tsc with --outDir)`);
  const { startTestStack, sweepLeftovers } = await import(pathToFileURL(entry).href);
  await sweepLeftovers();
  const stack = await startTestStack(dist, { withoutWorker: ['production'] });
  Object.assign(process.env, {
    TEST_HOME: stack.home.path,
    TEST_STAGING_URL: stack.apiUrl('staging'),
    TEST_PRODUCTION_URL: stack.apiUrl('production'),
    TEST_DATABASE_URL_STAGING: stack.databaseUrl('staging'),
    TEST_DATABASE_URL_PRODUCTION: stack.databaseUrl('production'),
    TEST_TEMPORAL_ADDRESS: stack.temporalAddress,
    TEST_TEMPORAL_UI: stack.temporalUi,
    TEST_TEMPORAL_NAMESPACE_STAGING: stack.namespace('staging'),
    TEST_TEMPORAL_NAMESPACE_PRODUCTION: stack.namespace('production'),
    TEST_SIMULATOR_URL: stack.simulatorUrl ?? '',
    TEST_SIMULATOR_SECRET: stack.secrets.simulatorSecret,
    TEST_WORKER_STAGING_URL: `http://127.0.0.1:${stack.ports['worker-metrics-staging']}`,
    TEST_SECRET_KEYS_STAGING: stack.secrets.keys.staging.secretKeys,
    TEST_SECRET_KEYS_PRODUCTION: stack.secrets.keys.production.secretKeys,
    TEST_TOKEN_KEY_STAGING: stack.secrets.keys.staging.tokenKey,
    TEST_TOKEN_KEY_PRODUCTION: stack.secrets.keys.production.tokenKey,
  });
  globalThis.signalboxTestStack = stack;
}
