import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readJson, writeJson } from './file.js';
import { takeLock, type Lock } from './lock.js';
import { end, isAlive, type ProcessIdentity } from './process.js';

/** What stands in `state.json`: survives restarts, holds no secret. */
export interface State {
  installationId: string;
  ports: Record<string, number>;
  postgresFolder?: string;
}

export interface Survivor extends ProcessIdentity {
  name: string;
}

/** One line of `ready.json`, for scripts. */
export interface ReadyEnvironment {
  api: string;
  docs: string;
  token: string;
}

export interface Ready {
  pid: number;
  staging?: ReadyEnvironment;
  production?: ReadyEnvironment;
  temporal: { address: string; ui: string | null };
}

const stopOrder = ['api', 'worker', 'simulator', 'temporal', 'postgres'];

/** The folder that holds all data of one installation: `SIGNALBOX_HOME`, else `.signalbox` in the project. */
export class Home {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  file(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /** Makes the folder. As root others may pass through it (not list it): Postgres runs as another user. */
  create(): void {
    if (!existsSync(this.path)) {
      mkdirSync(this.path, { recursive: true });
      chmodSync(this.path, process.getuid?.() === 0 ? 0o711 : 0o700);
    }
    for (const folder of ['logs', 'temporal', 'simulator']) mkdirSync(this.file(folder), { recursive: true, mode: 0o700 });
  }

  lock(): Lock | { heldBy: ProcessIdentity } {
    return takeLock(this.file('lock'));
  }

  state(): State {
    return readJson<State>(this.file('state.json')) ?? { installationId: randomUUID(), ports: {} };
  }

  keep(change: Partial<State>): State {
    const state = { ...this.state(), ...change };
    writeJson(this.file('state.json'), state);
    return state;
  }

  ready(): Ready | null {
    return readJson<Ready>(this.file('ready.json'));
  }

  announce(ready: Ready): void {
    writeJson(this.file('ready.json'), ready);
  }

  retract(): void {
    rmSync(this.file('ready.json'), { force: true });
  }

  children(): Survivor[] {
    return readJson<Survivor[]>(this.file('processes.json')) ?? [];
  }

  remember(child: Survivor): void {
    writeJson(this.file('processes.json'), [...this.children().filter((other) => other.name !== child.name), child]);
  }

  forget(name: string): void {
    writeJson(this.file('processes.json'), this.children().filter((child) => child.name !== name));
  }

  /** Ends what an earlier start left behind, in the order of a regular stop. Answers the names. */
  async endSurvivors(graceMs = 10_000): Promise<string[]> {
    const survivors = this.children().filter(isAlive);
    for (const kind of stopOrder) {
      const group = survivors.filter(({ name }) => name === kind || name.startsWith(`${kind}-`));
      await Promise.all(group.map((child) => end(child, kind === 'postgres' ? 'SIGINT' : 'SIGTERM', graceMs)));
    }
    writeJson(this.file('processes.json'), []);
    return survivors.map(({ name }) => name);
  }
}
