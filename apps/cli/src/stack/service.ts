import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { appBundlePath, type App } from '../bundle.js';
import type { ChildSpec } from './child.js';
import type { Home } from './home.js';
import type { Ports } from './port.js';
import type { EnvironmentName, Secrets } from './secret.js';

/** What every process of ours needs to know about its surroundings. */
export interface Surroundings {
  home: Home;
  /** The folder with the compiled code. */
  dist: string;
  ports: Ports;
  secrets: Secrets;
  databaseBaseUrl: string;
  temporalAddress: string;
  namespaceBase: string;
  /** More variables for these processes, for example `LOG_LEVEL`. */
  extra: NodeJS.ProcessEnv;
}

function entryPoint(dist: string, app: App): string {
  const bundle = appBundlePath(dist, app);
  return existsSync(bundle) ? bundle : join(dist, 'apps', app, 'src', 'main.js');
}

export function isBuilt(dist: string, app: App): boolean {
  return existsSync(entryPoint(dist, app));
}

const heapMegabytes = { api: 512, worker: 1024, simulator: 256 };
/** Room for what one request leaves behind: with less, much of it is copied before it is thrown away. */
const youngMegabytes = { api: 32, worker: 32, simulator: 16 };

export function simulatorChild(around: Surroundings): ChildSpec {
  const port = around.ports.simulator;
  return {
    ...nodeProcess(around, 'simulator'),
    name: 'simulator',
    env: { ...base(around), SIMULATOR_PORT: String(port), SIMULATOR_LEDGER: around.home.file('simulator', 'ledger.jsonl'), SIMULATOR_SECRET: around.secrets.simulatorSecret },
    answers: () => answersHttp(`http://127.0.0.1:${port}/healthz`),
  };
}

export function apiChild(around: Surroundings, environment: EnvironmentName): ChildSpec {
  const url = apiUrl(around.ports, environment);
  return {
    ...nodeProcess(around, 'api'),
    name: `api-${environment}`,
    env: environmentFor(around, environment, around.ports[`api-metrics-${environment}`]),
    answers: () => answersHttp(`${url}/readyz`),
  };
}

export function workerChild(around: Surroundings, environment: EnvironmentName): ChildSpec {
  const port = around.ports[`worker-metrics-${environment}`];
  return {
    ...nodeProcess(around, 'worker'),
    name: `worker-${environment}`,
    env: environmentFor(around, environment, port),
    answers: () => answersHttp(`http://127.0.0.1:${port}/readyz`),
  };
}

export function apiUrl(ports: Ports, environment: EnvironmentName): string {
  return `http://127.0.0.1:${ports[`api-${environment}`]}`;
}

/** The variables of libs/config for one environment of this installation. */
export function environmentFor(around: Surroundings, environment: EnvironmentName, metricsPort: number): NodeJS.ProcessEnv {
  const keys = around.secrets.keys[environment];
  return {
    ...base(around),
    ...inherited(['SMTP_URL', 'SMTP_FROM']),
    SIGNALBOX_ENV: environment,
    SIGNALBOX_LOCAL: '1',
    DATABASE_URL: around.databaseBaseUrl,
    TEMPORAL_ADDRESS: around.temporalAddress,
    TEMPORAL_NAMESPACE: around.namespaceBase,
    API_HOST: '127.0.0.1',
    API_PORT: String(around.ports[`api-${environment}`]),
    METRICS_PORT: String(metricsPort),
    PUBLIC_URL: apiUrl(around.ports, environment),
    SIGNALBOX_SECRET_KEYS: keys.secretKeys,
    SIGNALBOX_TOKEN_KEY: keys.tokenKey,
    ...(environment === 'staging' ? { SIMULATOR_URL: `http://127.0.0.1:${around.ports.simulator}`, SIMULATOR_SECRET: around.secrets.simulatorSecret } : {}),
    ...around.extra,
  };
}

/** Inherited: what finds programs and certificates, and our own tuning; not the caller's other variables. */
function base(around: Surroundings): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'LOG_LEVEL', 'DATABASE_POOL_SIZE', 'RATE_LIMIT_PER_SECOND'];
  return { ...inherited(names), NODE_ENV: 'production', TZ: 'UTC', ...around.extra };
}

function inherited(names: string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]));
}

function nodeProcess({ dist, home }: Surroundings, app: App): Pick<ChildSpec, 'command' | 'args' | 'cwd' | 'stopGraceMs'> {
  return {
    command: process.execPath,
    args: [`--max-old-space-size=${heapMegabytes[app]}`, `--max-semi-space-size=${youngMegabytes[app]}`, entryPoint(dist, app)],
    cwd: home.path,
    stopGraceMs: 30_000,
  };
}

/** Whether the address answers 200. */
export async function answersHttp(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.status === 200;
}
