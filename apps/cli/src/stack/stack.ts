import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Child, type ChildSpec } from './child.js';
import { Home, type Ready } from './home.js';
import { choosePorts, portBase, type Ports } from './port.js';
import { createDatabase, databaseUrl, postgresChild } from './postgres.js';
import { environmentNames, secretsOf, type EnvironmentName, type Secrets } from './secret.js';
import { answersHttp, apiChild, apiUrl, isBuilt, simulatorChild, workerChild, type Surroundings } from './service.js';
import { findTemporal, type Progress } from './temporal-binary.js';
import { prepareTemporal, temporalChild } from './temporal.js';
import { databaseUrlOf } from '../../../../libs/config/config.js';

export interface StackOptions {
  home: string;
  /** The folder with the compiled code. */
  dist: string;
  environments: readonly EnvironmentName[];
  progress: Progress;
  /** Starts again what ends by itself. Off where a test ends processes on purpose. */
  supervised: boolean;
  /** Environments that get an API but no worker. */
  withoutWorker?: readonly EnvironmentName[];
  /** Leaves out parts that are not compiled yet. */
  onlyBuilt?: boolean;
  extra?: NodeJS.ProcessEnv;
  env?: NodeJS.ProcessEnv;
  /** Stops what is being started. */
  abort?: AbortSignal;
}

/** A running installation. */
export interface Stack {
  home: Home;
  ports: Ports;
  secrets: Secrets;
  temporalAddress: string;
  temporalUi: string | null;
  databaseUrl(environment: EnvironmentName): string;
  namespace(environment: EnvironmentName): string;
  apiUrl(environment: EnvironmentName): string;
  simulatorUrl: string | null;
  child(name: string): Child;
  children(): Child[];
  stop(): Promise<void>;
}

/** The folder is in use by another process that runs. */
export class HomeInUse extends Error {
  override readonly name = 'HomeInUse';

  constructor(
    readonly path: string,
    readonly pid: number,
  ) {
    super(`${path} is in use by process ${pid}`);
  }
}

/** Starts everything in order and answers when all of it serves. On failure stops what it started and throws. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const home = new Home(options.home);
  home.create();
  const lock = home.lock();
  if ('heldBy' in lock) throw new HomeInUse(home.path, lock.heldBy.pid);
  const starting = new Starting(home, options);
  const abort = () => void starting.stop();
  options.abort?.addEventListener('abort', abort);
  try {
    return await starting.run(() => lock.release());
  } catch (error) {
    await starting.stop();
    lock.release();
    throw error;
  } finally {
    options.abort?.removeEventListener('abort', abort);
  }
}

class Starting {
  private readonly started: Child[] = [];
  private releasePorts: () => void = () => undefined;

  constructor(
    private readonly home: Home,
    private readonly options: StackOptions,
  ) {}

  async run(unlock: () => void): Promise<Stack> {
    const { home, options } = this;
    home.retract();
    const ended = await home.endSurvivors();
    if (ended.length > 0) options.progress(`ended what an earlier start left behind: ${ended.join(', ')}`);
    const around = await this.surroundings();
    const external = externalTemporal(options.env ?? process.env);
    const namespaces = options.environments.map((environment) => `${around.namespaceBase}-${environment}`);
    await settleAll([this.database(around), this.temporal(around, namespaces, external !== null), this.simulator(around)]);
    await this.migrate(around);
    await this.services(around);
    const temporalUi = external === null ? `http://127.0.0.1:${around.ports['temporal-ui']}` : null;
    const child = (name: string) => this.find(name);
    return {
      home,
      ports: around.ports,
      secrets: around.secrets,
      temporalAddress: around.temporalAddress,
      temporalUi,
      databaseUrl: (environment) => databaseUrlOf(around.databaseBaseUrl, environment),
      namespace: (environment) => `${around.namespaceBase}-${environment}`,
      apiUrl: (environment) => apiUrl(around.ports, environment),
      simulatorUrl: this.started.some(({ name }) => name === 'simulator') ? `http://127.0.0.1:${around.ports.simulator}` : null,
      child,
      children: () => [...this.started],
      stop: async () => {
        await this.stop();
        unlock();
      },
    };
  }

  /** API, workers, simulator, Temporal, Postgres: each finds what it needs until it is gone itself. */
  async stop(): Promise<void> {
    this.home.retract();
    for (const kind of ['api', 'worker', 'simulator', 'temporal', 'postgres']) {
      const group = this.started.filter(({ name }) => name === kind || name.startsWith(`${kind}-`));
      await Promise.all(group.map((child) => child.stop()));
    }
    this.releasePorts();
  }

  private async surroundings(): Promise<Surroundings> {
    const env = this.options.env ?? process.env;
    const base = portBase(env.SIGNALBOX_PORT_BASE);
    const choice = await choosePorts(base, this.home.state().ports as Partial<Ports>);
    this.releasePorts = () => choice.release();
    for (const { name, wanted, port } of base === null ? [] : choice.moved) this.options.progress(`port ${wanted} is taken: ${name} is on ${port}`);
    const { ports } = choice;
    this.home.keep({ ports });
    const secrets = secretsOf(this.home);
    return {
      home: this.home,
      dist: this.options.dist,
      ports,
      secrets,
      databaseBaseUrl: env.DATABASE_URL || databaseUrl({ port: ports.postgres, password: secrets.postgresPassword }, 'signalbox'),
      temporalAddress: externalTemporal(env) ?? `127.0.0.1:${ports.temporal}`,
      namespaceBase: env.TEMPORAL_NAMESPACE || 'signalbox',
      extra: this.options.extra ?? {},
    };
  }

  private async database(around: Surroundings): Promise<void> {
    if (!(this.options.env ?? process.env).DATABASE_URL) {
      this.options.progress('starting PostgreSQL');
      await this.launch(await postgresChild(this.home, { port: around.ports.postgres, password: around.secrets.postgresPassword }, this.options.abort));
    }
    for (const environment of this.options.environments) await createDatabase(databaseUrlOf(around.databaseBaseUrl, environment));
  }

  private async temporal(around: Surroundings, namespaces: string[], external: boolean): Promise<void> {
    if (!external) {
      const binary = await findTemporal(this.options.progress);
      this.options.progress('starting Temporal');
      const { ports } = around;
      const own = { grpc: ports.temporal, ui: ports['temporal-ui'], http: ports['temporal-http'], metrics: ports['temporal-metrics'] };
      await this.launch(temporalChild(this.home, { binary, ports: own, namespaces }));
    }
    await prepareTemporal(around.temporalAddress, namespaces);
  }

  private async simulator(around: Surroundings): Promise<void> {
    if (!this.options.environments.includes('staging') || this.isLeftOut('simulator')) return;
    await this.launch(simulatorChild(around));
  }

  private async migrate(around: Surroundings): Promise<void> {
    const path = join(around.dist, 'libs', 'db', 'migrate.js');
    const { migrate } = (await import(pathToFileURL(path).href)) as { migrate(url: string): Promise<unknown> };
    this.options.progress('applying migrations');
    for (const environment of this.options.environments) await migrate(databaseUrlOf(around.databaseBaseUrl, environment));
  }

  private async services(around: Surroundings): Promise<void> {
    const { environments, withoutWorker = [] } = this.options;
    const workers = this.isLeftOut('worker') ? [] : environments.filter((environment) => !withoutWorker.includes(environment));
    const apis = this.isLeftOut('api') ? [] : environments;
    this.options.progress(`starting workers and APIs of ${environments.join(' and ')}`);
    const specs = [...workers.map((environment) => workerChild(around, environment)), ...apis.map((environment) => apiChild(around, environment))];
    await settleAll(specs.map((spec) => this.launch(spec)));
  }

  private isLeftOut(app: 'api' | 'worker' | 'simulator'): boolean {
    return this.options.onlyBuilt === true && !isBuilt(this.options.dist, app);
  }

  private async launch(spec: ChildSpec): Promise<void> {
    this.options.abort?.throwIfAborted();
    const child = new Child(spec, this.home, this.options.supervised);
    child.onRestart = (name, why) => this.options.progress(`${name} ended (${why}): starting it again`);
    this.started.push(child);
    await child.start();
  }

  private find(name: string): Child {
    const child = this.started.find((one) => one.name === name);
    if (child === undefined) throw new Error(`no process ${name} in this stack`);
    return child;
  }
}

/** Waits for all, so that nothing is still starting when the first failure is reported. */
async function settleAll(work: Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function externalTemporal(env: NodeJS.ProcessEnv): string | null {
  return env.TEMPORAL_ADDRESS || null;
}

export { answersHttp, environmentNames, type EnvironmentName, type Ready };
