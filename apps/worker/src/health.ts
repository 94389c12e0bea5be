import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Config } from '../../../libs/config/config.js';

interface HealthOptions {
  config: Config;
  registry: Registry;
  /** The SDK's own metrics in the same text format. */
  temporalMetrics: () => Promise<string>;
  isReady: () => Promise<boolean>;
}

/** `GET /healthz` (the process is up), `/readyz` (its workers run, database and Temporal answer), `/metrics`. */
export async function serveHealth({ config, registry, temporalMetrics, isReady }: HealthOptions): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void answer(request.url?.split('?')[0] ?? '/', response);
  });
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    try {
      if (path === '/healthz') return send(response, 200, { status: 'ok' });
      if (path === '/readyz') {
        const ready = await isReady();
        return send(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready' });
      }
      if (path !== '/metrics') return send(response, 404, { status: 'no such path' });
      const text = [await registry.metrics(), await temporalMetrics()].join('\n');
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } catch {
      send(response, 500, { status: 'failed' });
    }
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.metricsPort, config.apiHost, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
