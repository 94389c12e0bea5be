import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerOf } from './lock.js';
import { identify, isAlive } from './process.js';

/** Every port of an installation; its place in the list is its distance from `SIGNALBOX_PORT_BASE`. */
export const portNames = [
  'api-production',
  'api-staging',
  'simulator',
  'postgres',
  'temporal',
  'temporal-ui',
  'temporal-http',
  'temporal-metrics',
  'api-metrics-production',
  'api-metrics-staging',
  'worker-metrics-production',
  'worker-metrics-staging',
] as const;
export type PortName = (typeof portNames)[number];
export type Ports = Record<PortName, number>;

const defaultBase = 4100;

export interface PortChoice {
  ports: Ports;
  /** Ports that had to move because another program listens on the wanted one. */
  moved: { name: PortName; wanted: number; port: number }[];
  release(): void;
}

/** `SIGNALBOX_PORT_BASE` as a number; null if it is not set. */
export function portBase(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const base = Number(text);
  if (Number.isInteger(base) && base >= 1 && base + portNames.length <= 65_536) return base;
  throw new Error(`SIGNALBOX_PORT_BASE is "${text}": expected a number from 1 to ${65_536 - portNames.length}`);
}

/**
 * Ports for a start: the base's if one is set, else those of the last start, else from 4100; where one is taken, the next free one.
 * A reservation file per port keeps two starts at the same moment apart.
 */
export async function choosePorts(base: number | null, kept: Partial<Ports>): Promise<PortChoice> {
  const folder = reservations();
  const ports = {} as Ports;
  const moved: PortChoice['moved'] = [];
  const used = new Set<number>();
  for (const [index, name] of portNames.entries()) {
    const wanted = base !== null ? base + index : kept[name] ?? defaultBase + index;
    let port = wanted;
    while (used.has(port) || !(await reserve(folder, port))) port = port + portNames.length > 65_535 ? 10_000 : port + portNames.length;
    used.add(port);
    ports[name] = port;
    if (port !== wanted) moved.push({ name, wanted, port });
  }
  return { ports, moved, release: () => used.forEach((port) => rmSync(join(folder, String(port)), { force: true })) };
}

/** One folder for all people of the machine, as `/tmp` is: anybody adds a file, nobody removes another's. */
function reservations(): string {
  const folder = join(tmpdir(), 'signalbox-ports');
  try {
    mkdirSync(folder);
    chmodSync(folder, 0o1777);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return folder;
}

async function reserve(folder: string, port: number): Promise<boolean> {
  const path = join(folder, String(port));
  const owner = ownerOf(path);
  if (owner !== null && isAlive(owner)) return false;
  try {
    if (owner !== null) rmSync(path, { force: true });
    writeFileSync(path, JSON.stringify(identify(process.pid)), { flag: 'wx', mode: 0o644 });
  } catch {
    return false;
  }
  if ((await isFree(port, '127.0.0.1')) && (await isFree(port, '0.0.0.0'))) return true;
  rmSync(path, { force: true });
  return false;
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
