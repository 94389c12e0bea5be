import { resolve } from 'node:path';
import { startTestStack, type TestStack, type TestStackOptions } from '../../apps/cli/src/stack/test-stack.js';
import type { Child } from '../../apps/cli/src/stack/child.js';
import type { EnvironmentName } from '../../apps/cli/src/stack/secret.js';

/** Addresses of the stack that all specs share; `global.setup.mjs` starts it. */
export const shared = {
  home: given('TEST_HOME'),
  stagingUrl: given('TEST_STAGING_URL'),
  productionUrl: given('TEST_PRODUCTION_URL'),
  databaseUrlStaging: given('TEST_DATABASE_URL_STAGING'),
  databaseUrlProduction: given('TEST_DATABASE_URL_PRODUCTION'),
  temporalAddress: given('TEST_TEMPORAL_ADDRESS'),
  temporalUi: given('TEST_TEMPORAL_UI'),
  namespaceStaging: given('TEST_TEMPORAL_NAMESPACE_STAGING'),
  simulatorUrl: given('TEST_SIMULATOR_URL'),
  simulatorSecret: given('TEST_SIMULATOR_SECRET'),
  workerStagingUrl: given('TEST_WORKER_STAGING_URL'),
  secretKeysStaging: given('TEST_SECRET_KEYS_STAGING'),
  secretKeysProduction: given('TEST_SECRET_KEYS_PRODUCTION'),
  tokenKeyStaging: given('TEST_TOKEN_KEY_STAGING'),
  tokenKeyProduction: given('TEST_TOKEN_KEY_PRODUCTION'),
};

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run this spec with the project "integration"`);
  return value;
}

/** A process of a private stack that a spec may end and start again at the same address. */
export interface Handle {
  readonly pid: number;
  /** Ends it without warning; resolves when it is gone. */
  kill9(): Promise<void>;
  /** Starts it again (stops it first if it runs); resolves when it answers. */
  restart(): Promise<void>;
  /** Stops it in good order; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface ServiceHandle extends Handle {
  readonly url: string;
}

/** A stack of the spec's own. `api`, `worker` and the addresses are those of its first environment. */
export interface PrivateStack {
  api: ServiceHandle;
  worker: ServiceHandle;
  simulator: ServiceHandle;
  temporal: Handle & { address: string };
  postgres: Handle & { url: string };
  home: string;
  temporalAddress: string;
  temporalNamespace: string;
  databaseUrl: string;
  secretKeys: string;
  tokenKey: string;
  stack: TestStack;
  /** Stops everything and removes the data. */
  stop(): Promise<void>;
}

export interface PrivateStackOptions {
  envs?: EnvironmentName[];
  extra?: NodeJS.ProcessEnv;
  /** For a spec of the API alone: no workflow runs, and nothing is delivered. */
  withoutWorker?: boolean;
}

/** Starts a private stack, by default of staging only. Takes about 3 s; stop it in `afterAll`. */
export async function startStack(options: PrivateStackOptions = {}): Promise<PrivateStack> {
  const environments = options.envs ?? (['staging'] as EnvironmentName[]);
  const environment = environments[0] ?? 'staging';
  const started: TestStackOptions = { environments, extra: options.extra, withoutWorker: options.withoutWorker ? environments : [] };
  const stack = await startTestStack(resolve(process.env.SIGNALBOX_DIST ?? 'dist'), started);
  const workerUrl = `http://127.0.0.1:${stack.ports[`worker-metrics-${environment}`]}`;
  return {
    api: Object.assign(handle(() => stack.child(`api-${environment}`)), { url: stack.apiUrl(environment) }),
    worker: Object.assign(handle(() => stack.child(`worker-${environment}`)), { url: workerUrl }),
    simulator: Object.assign(handle(() => stack.child('simulator')), { url: stack.simulatorUrl ?? '' }),
    temporal: Object.assign(handle(() => stack.child('temporal')), { address: stack.temporalAddress }),
    postgres: Object.assign(handle(() => stack.child('postgres')), { url: stack.databaseUrl(environment) }),
    home: stack.home.path,
    temporalAddress: stack.temporalAddress,
    temporalNamespace: stack.namespace(environment),
    databaseUrl: stack.databaseUrl(environment),
    secretKeys: stack.secrets.keys[environment].secretKeys,
    tokenKey: stack.secrets.keys[environment].tokenKey,
    stack,
    stop: () => stack.remove(),
  };
}

function handle(child: () => Child): Handle {
  return {
    get pid() {
      return child().pid;
    },
    kill9: () => child().kill9(),
    restart: () => child().restart(),
    stop: () => child().stop(),
  };
}

/**
 * Waits until the function neither throws nor answers `false`, `null` or `undefined`, and answers what it answered.
 * When the time is over, throws its last error.
 */
export async function eventually<T>(
  attempt: () => Promise<T> | T,
  { timeoutMs = 45_000, intervalMs = 50 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await attempt();
      if (value !== false && value !== null && value !== undefined) return value;
      last = new Error(`still ${String(value)} after ${timeoutMs} ms`);
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw last;
    await new Promise((done) => setTimeout(done, intervalMs));
  }
}
