import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Poster, type PosterOptions } from './poster.js';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const open: { server: Server; poster: Poster }[] = [];

async function receiver(answer: Answer, options: Partial<PosterOptions> = {}) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const poster = new Poster({ allowLoopback: true, allowedNetworks: [], deadlineMs: 2_000, ...options });
  open.push({ server, poster });
  const { port } = server.address() as AddressInfo;
  return { poster, port, url: `http://127.0.0.1:${port}/hook?x=1` };
}

const post = (url: string) => ({ url, headers: { 'signature-digest': 't=1' }, body: '{"a":1}' });

afterEach(async () => {
  for (const { server, poster } of open.splice(0)) {
    await poster.close();
    server.closeAllConnections();
    server.close();
  }
});

describe('a post', () => {
  it('carries body and headers and reports the answer', async () => {
    const seen: unknown[] = [];
    const { poster, port, url } = await receiver((request, response, body) => {
      seen.push([request.method, request.url, request.headers['content-type'], request.headers['signature-digest'], body]);
      response.writeHead(202, { 'retry-after': '7' }).end('thanks');
    });
    expect(await poster.post(post(url))).toEqual({
      status: 202, failure: null, detail: null, durationMs: expect.any(Number), excerpt: 'thanks', retryAfter: '7',
      address: `127.0.0.1:${port}`,
      timings: { connect: expect.any(Number), first_byte: expect.any(Number) },
      requestHeaders: { 'content-type': 'application/json', 'user-agent': 'Signalbox', 'signature-digest': 't=1' },
      responseHeaders: { date: expect.any(String), 'retry-after': '7' },
    });
    expect(seen).toEqual([['POST', '/hook?x=1', 'application/json', 't=1', '{"a":1}']]);
  });

  it('tells how long each phase took, and of an open connection that it was not made again', async () => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const { poster, port } = await receiver((_request, response) => setTimeout(() => response.end(), 30), { resolve });
    const named = post(`http://localhost:${port}/`);
    const first = await poster.post(named);
    expect(Object.keys(first.timings)).toEqual(['resolve', 'connect', 'first_byte']);
    expect(first.timings.first_byte).toBeGreaterThanOrEqual(29);
    await new Promise(setImmediate);
    const second = await poster.post(named);
    expect(Object.keys(second.timings)).toEqual(['first_byte']);
    expect(second.address).toBe(`127.0.0.1:${port}`);
  });

  it('says in words why no answer came, and from where', async () => {
    const { poster, port } = await receiver((request) => request.socket.destroy());
    const lost = await poster.post(post(`http://127.0.0.1:${port}/`));
    expect([lost.failure, lost.address, lost.detail]).toEqual(['connection_lost', `127.0.0.1:${port}`, expect.stringContaining(`127.0.0.1 (127.0.0.1:${port}) closed the connection`)]);
    const refused = await poster.post(post('http://127.0.0.1:1/'));
    expect([refused.failure, refused.address, refused.detail]).toEqual(['connection_failed', '127.0.0.1:1', expect.stringContaining('ECONNREFUSED')]);
    const hidden = await poster.post({ ...post(`http://127.0.0.1:${port}/`), headers: { 'X-Key': 'mine', 'webhook-signature': 'v1,abcdefghijkl v1,ABCDEFGHIJKL' } });
    expect(hidden.requestHeaders).toMatchObject({ 'x-key': '[masked]', 'webhook-signature': 'v1,abcdefgh… v1,ABCDEFGH…' });
  });

  it('does not follow a redirect', async () => {
    let calls = 0;
    const { poster, url } = await receiver((_request, response) => {
      calls += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect((await poster.post(post(url))).status).toBe(302);
    expect(calls).toBe(1);
  });

  it('stops reading at 64 KiB, and keeps 4 KiB', async () => {
    const { poster, url } = await receiver((_request, response) => {
      response.writeHead(200);
      const pump = (): void => { while (!response.destroyed && response.write('x'.repeat(16_384))); };
      response.on('drain', pump);
      pump();
    });
    const result = await poster.post(post(url));
    expect(result).toMatchObject({ status: 200, failure: null });
    expect(result.excerpt).toBe('x'.repeat(4096));
  });

  it('has one deadline, also for an answer that drips', async () => {
    const { poster, url } = await receiver((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drip));
    }, { deadlineMs: 300 });
    const result = await poster.post(post(url));
    expect(result).toMatchObject({ status: null, failure: 'timed_out' });
    expect(result.durationMs).toBeLessThan(1_500);
  });

  it('names what went wrong', async () => {
    const { poster, url, port } = await receiver((request) => { request.socket.destroy(); });
    expect(await poster.post(post(url))).toMatchObject({ status: null, failure: 'connection_lost' });
    expect(await poster.post(post(`https://127.0.0.1:${port}/`))).toMatchObject({ failure: 'tls_failed' });
    expect(await poster.post(post('http://127.0.0.1:1/'))).toMatchObject({ failure: 'connection_failed' });
    expect(await poster.post(post('https://no-such-name.invalid/'))).toMatchObject({ failure: 'name_not_resolved' });
  });

  it('dials the checked address of a name, resolved once, and no name with a private address among its own', async () => {
    const asked: string[] = [];
    const resolve = (addresses: string[]) => async (name: string) => {
      asked.push(name);
      return addresses.map((address) => ({ address, family: 4 }));
    };
    const { poster, url } = await receiver((_request, response) => response.end('ok'), { resolve: resolve(['127.0.0.1']) });
    const named = url.replace('127.0.0.1', 'hooks.localhost');
    expect(await poster.post(post(named))).toMatchObject({ status: 200 });
    expect(asked).toEqual(['hooks.localhost']);
    const mixed = await receiver((_request, response) => response.end('ok'), { resolve: resolve(['127.0.0.1', '10.0.0.1']) });
    expect(await mixed.poster.post(post(mixed.url.replace('127.0.0.1', 'hooks.localhost')))).toMatchObject({ failure: 'address_refused' });
  });

  it('refuses loopback, by literal and by name, unless it is allowed', async () => {
    let calls = 0;
    const { poster, url } = await receiver((_request, response) => { calls += 1; response.end(); }, {
      allowLoopback: false, resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    expect(await poster.post(post(url))).toMatchObject({ failure: 'address_refused' });
    expect(await poster.post(post('https://receiver.example/'))).toMatchObject({ failure: 'address_refused' });
    expect(calls).toBe(0);
  });

  it('ends at once when it is told to', async () => {
    const stop = new AbortController();
    const { poster, url } = await receiver(() => stop.abort());
    expect(await poster.post({ ...post(url), signal: stop.signal })).toMatchObject({ status: null, failure: 'interrupted' });
  });

  it('waits for a free socket beyond the limit', async () => {
    let now = 0;
    let most = 0;
    const { poster, url } = await receiver((_request, response) => {
      most = Math.max(most, ++now);
      setImmediate(() => { now -= 1; response.end(); });
    }, { maxSockets: 3 });
    const results = await Promise.all(Array.from({ length: 12 }, () => poster.post(post(url))));
    expect(results.every((result) => result.status === 200)).toBe(true);
    expect(most).toBeLessThanOrEqual(3);
    expect(poster.open).toBe(0);
  });
});
