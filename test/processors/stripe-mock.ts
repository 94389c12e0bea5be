import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../apps/cli/src/stack/temporal-binary.js';

/** Its description of the API is of 2026-08-26.dahlia, the version that the adapter speaks. */
const version = '0.203.0';

/** Stripe's own checker of requests, built once by Go and kept; or why there is none. */
export async function findStripeMock(): Promise<{ binary: string } | { missing: string }> {
  const binary = join(cacheFolder(), `stripe-mock-${version}`);
  if (existsSync(binary)) return { binary };
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(join(cacheFolder(), 'fetch-'));
  try {
    await promisify(execFile)('go', ['install', `github.com/stripe/stripe-mock@v${version}`], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-modcacherw' }, timeout: 240_000,
    });
    renameSync(join(folder, 'stripe-mock'), binary);
    return { binary };
  } catch (error) {
    return { missing: `stripe-mock ${version} could not be built by \`go install\`: ${(error as Error).message.split('\n')[0]}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Checked {
  /** `POST /v1/payment_intents/:id/confirm` */
  request: string;
  status: number;
  answer: string;
}

/** The checker behind a relay that keeps what it answered. */
export class StripeMock {
  readonly checked: Checked[] = [];
  /** Its answers never change; what must read otherwise for the next request to be made is changed on the way back. */
  readonly changes: [RegExp, string][] = [];

  private constructor(
    private readonly child: ChildProcess,
    private readonly relay: Server,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${(this.relay.address() as AddressInfo).port}`;
  }

  static async start(binary: string): Promise<StripeMock> {
    const child = spawn(binary, ['-http-addr', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const upstream = await listening(child);
    const relay = createServer();
    const mock = new StripeMock(child, relay);
    relay.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { authorization = '', 'content-type': type = '', 'stripe-version': asked = '' } = request.headers as Record<string, string>;
      const answer = await fetch(upstream + request.url, {
        method: request.method,
        headers: { authorization, 'stripe-version': asked, ...(type ? { 'content-type': type } : {}) },
        body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
      });
      const text = await answer.text();
      const path = new URL(request.url ?? '/', upstream).pathname.replace(/\/(pm|cus|pi|re|seti)_\w+/g, '/:id');
      mock.checked.push({ request: `${request.method} ${path}`, status: answer.status, answer: text });
      const told = mock.changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(told);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    return mock;
  }

  async stop(): Promise<void> {
    this.relay.closeAllConnections();
    await new Promise((resolve) => this.relay.close(resolve));
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await gone;
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const found = /Listening for HTTP at address: (?:http:\/\/)?(127\.0\.0\.1:\d+)/.exec(said);
      if (found) resolve(`http://${found[1]}`);
    };
    child.stdout!.on('data', hear);
    child.stderr!.on('data', hear);
    child.once('exit', (code) => reject(new Error(`stripe-mock ended with ${code}: ${said}`)));
    child.once('error', reject);
  });
}
