import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

/** The metrics of one process, in the text format of Prometheus, with Node's own and the labels `process` and `environment`. */
export function createMetrics(labels: { process: string; environment: string }): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  return registry;
}

export interface Gauging<Label extends string> {
  name: string;
  help: string;
  label: Label;
  /** Asked at each scrape: a value by what the label says. */
  read(): Iterable<readonly [string, number]>;
}

/** A gauge that is read when it is asked for. */
export function gauge<Label extends string>(registry: Registry, { name, help, label, read }: Gauging<Label>): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [key, value] of read()) this.labels(key).set(value);
    },
  });
}

/** A count that is kept elsewhere and read when it is asked for. */
export function counter(registry: Registry, { name, help, read }: { name: string; help: string; read(): number }): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Serves `GET /metrics` on a port of its own. Port 0 takes a free one. */
export async function serveMetrics(registry: Registry, address: { host: string; port: number }): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return { port: portOf(server), close: () => stop(server) };
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
