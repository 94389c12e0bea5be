import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { Poster, type PosterOptions, type PostResult } from '../../libs/webhooks/poster.js';
import { certificate, type Certificate } from '../support/certificate.js';
import { eventually } from '../support/stack.js';

const deadlineMs = 600;
/** What a loaded machine may add before a timer runs. */
const late = 9_400;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Hostile {
  port: number;
  sockets: Set<Socket>;
  /** Requests of this spec: others may still look for a receiver that had this port before. */
  calls: number;
  /** Bytes that it could send. */
  sent(): number;
}

/** A receiver on a bare socket: `answer` gets each connection once its request began to arrive. */
async function hostile(answer: (socket: Socket) => void, tls?: Certificate): Promise<Hostile> {
  const sockets = new Set<Socket>();
  let sent = 0;
  const take = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sent += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.once('data', (head: Buffer) => {
      if (!head.includes('POST /hostile')) return socket.destroy();
      self.calls += 1;
      return answer(socket);
    });
  };
  const server = tls ? createTlsServer({ cert: tls.cert, key: tls.key }, take) : createServer(take);
  server.on('tlsClientError', () => undefined);
  await listen(server);
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const self: Hostile = { port: (server.address() as AddressInfo).port, sockets, calls: 0, sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sent) };
  return self;
}

async function listen(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

function poster(options: Partial<PosterOptions> = {}): Poster {
  const made = new Poster({ allowLoopback: true, allowedNetworks: [], deadlineMs, ...options });
  closing.push(() => made.close());
  return made;
}

const post = (url: string) => ({ url, headers: {}, body: '{"a":1}' });
const http = ({ port }: Hostile) => `http://127.0.0.1:${port}/hostile`;

const forever = (socket: Socket, chunk: string | Buffer): void => {
  const pump = (): void => { while (!socket.destroyed && socket.write(chunk)); };
  socket.on('drain', pump);
  pump();
};

const every = (socket: Socket, ms: number, chunk: string): void => {
  const timer = setInterval(() => socket.write(chunk), ms);
  socket.on('close', () => clearInterval(timer));
};

const begin = 'HTTP/1.1 200 OK\r\n';

type Expected = Partial<Pick<PostResult, 'status' | 'failure'>>;
const cut: Expected = { status: null, failure: 'timed_out' };
const lost: Expected = { status: null, failure: 'connection_lost' };
const unreadable: Expected = { status: null, failure: 'unreadable_answer' };

const bomb = gzipSync(Buffer.alloc(50_000_000));

const corpus: [string, (socket: Socket) => void, Expected | Expected[]][] = [
  ['says nothing', () => undefined, cut],
  ['closes at once', (socket) => socket.destroy(), lost],
  ['resets the connection', (socket) => socket.resetAndDestroy(), lost],
  ['resets it in the middle of its body', (socket) => socket.write(`${begin}content-length: 99\r\n\r\nabc`, () => socket.resetAndDestroy()), lost],
  ['closes before the length that it named', (socket) => socket.end(`${begin}content-length: 99\r\n\r\nabc`), lost],
  ['answers one byte at a time', (socket) => every(socket, 20, 'H'), [cut, unreadable]],
  ['sends its headers one byte at a time', (socket) => { socket.write(begin); every(socket, 20, 'x'); }, cut],
  ['sends headers without end', (socket) => { socket.write(begin); forever(socket, `x: ${'y'.repeat(8_000)}\r\n`); }, unreadable],
  ['sends one header without end', (socket) => { socket.write(`${begin}x: `); forever(socket, 'y'.repeat(8_000)); }, unreadable],
  ['sends a body one byte at a time', (socket) => { socket.write(`${begin}content-length: 100000\r\n\r\n`); every(socket, 20, '.'); }, cut],
  ['sends a body in chunks of one byte', (socket) => { socket.write(`${begin}transfer-encoding: chunked\r\n\r\n`); every(socket, 20, '1\r\n.\r\n'); }, cut],
  ['sends 10 GB', (socket) => { socket.write(`${begin}content-length: 10000000000\r\n\r\n`); forever(socket, Buffer.alloc(65_536, 'x')); }, { status: 200, failure: null }],
  ['sends chunks without end', (socket) => { socket.write(`${begin}transfer-encoding: chunked\r\n\r\n`); forever(socket, `1000\r\n${'x'.repeat(4096)}\r\n`); }, { status: 200, failure: null }],
  ['fails with 10 GB', (socket) => { socket.write('HTTP/1.1 500 No\r\ncontent-length: 10000000000\r\n\r\n'); forever(socket, Buffer.alloc(65_536, 'x')); }, { status: 500, failure: null }],
  ['sends a gzip bomb', (socket) => {
    socket.write(`${begin}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  }, { status: 200, failure: null }],
  ['continues without end', (socket) => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)), [cut, unreadable, lost]],
  ['switches protocols', (socket) => socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'), [lost, unreadable]],
  ['speaks another protocol', (socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n'), unreadable],
  ['speaks HTTP/0.9', (socket) => socket.end('<html>hello</html>'), unreadable],
  ['speaks HTTP/2 without being asked', (socket) => socket.write(Buffer.from('0000000400000000000000', 'hex')), unreadable],
  ['answers with noise', (socket) => socket.end(Buffer.from('00ff80'.repeat(2_000), 'hex')), unreadable],
  ['names two lengths', (socket) => socket.end(`${begin}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`), unreadable],
  ['names a length and chunks', (socket) => socket.end(`${begin}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`), unreadable],
  ['names a length below 0', (socket) => socket.end(`${begin}content-length: -1\r\n\r\n`), unreadable],
  ['sends a chunk of no size', (socket) => socket.end(`${begin}transfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n`), unreadable],
  ['redirects into the private network', (socket) => socket.end('HTTP/1.1 307 Elsewhere\r\nlocation: http://169.254.169.254/latest/meta-data\r\ncontent-length: 0\r\n\r\n'), { status: 307, failure: null }],
];

describe('a hostile receiver', () => {
  it('is cut off by the deadline or refused, whatever it does: its socket and slot are free again, and memory stays flat', async () => {
    const before = process.memoryUsage();
    const one = poster({ maxSockets: corpus.length });
    const patient = poster({ deadlineMs: deadlineMs + late });
    const run = async ([name, answer, expected]: (typeof corpus)[number], by = one) => {
      const receiver = await hostile(answer);
      return { name, expected: [expected].flat(), receiver, result: await by.post(post(http(receiver))) };
    };
    const isCut = ([, , expected]: (typeof corpus)[number]) => [expected].flat().includes(cut);
    const ran = await Promise.all(corpus.filter(isCut).map((each) => run(each)));
    for (const quick of corpus.filter((each) => !isCut(each))) ran.push(await run(quick, patient));
    for (const { name, expected, receiver, result } of ran) {
      const { status, failure } = result;
      expect([name, expected]).toEqual([name, expect.arrayContaining([{ status, failure }])]);
      expect([name, result.durationMs < deadlineMs + late, receiver.calls]).toEqual([name, true, 1]);
      expect([name, (result.excerpt ?? '').length <= 4096, receiver.sent() < 8_000_000]).toEqual([name, true, true]);
    }
    expect([one.open, patient.open]).toEqual([0, 0]);
    const cutOff = ran.filter(({ name, result }) => result.failure !== null || /10 GB|without end/.test(name));
    await eventually(() => cutOff.every(({ receiver }) => receiver.sockets.size === 0));
    const after = process.memoryUsage();
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(80_000_000);
  });

  it('gives its slot to the next post', async () => {
    const silent = await hostile(() => undefined);
    const good = await hostile((socket) => socket.end(`${begin}content-length: 2\r\n\r\nok`));
    const narrow = poster({ maxSockets: 1, deadlineMs: 1_500 });
    const results = await Promise.all([http(silent), http(good), http(silent), http(good)].map((url) => narrow.post(post(url))));
    expect(results.map(({ status, failure }) => status ?? failure)).toEqual(['timed_out', 200, 'timed_out', 200]);
    expect(narrow.open).toBe(0);
  });

  it('that never accepts a connection is given up at the deadline', async () => {
    const full = await neverAccepting();
    const result = await poster().post(post(`http://127.0.0.1:${full}/`));
    expect([result.status, result.failure, result.durationMs < deadlineMs + late]).toEqual([null, 'timed_out', true]);
  });
});

/** A port whose backlog is full, of a process that stands still. */
async function neverAccepting(): Promise<number> {
  const script = 'const s = require("net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(s.address().port));';
  const child: ChildProcess = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  closing.push(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const port = Number(line.toString().trim());
  child.kill('SIGSTOP');
  for (let index = 0; index < 8; index += 1) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    closing.push(() => filler.destroy());
  }
  return port;
}

describe('a receiver\'s certificate', () => {
  const root = certificate({ name: 'Root of this spec' });
  const day = 86_400_000;
  const host = 'receiver.example';
  const cases: [string, Certificate, Expected][] = [
    ['that is good', certificate({ name: host, issuer: root }), { status: 200, failure: null }],
    ['that signs itself', certificate({ name: host }), { status: null, failure: 'tls_failed' }],
    ['of an authority that nobody knows', certificate({ name: host, issuer: certificate({ name: 'Root of nobody' }) }), { status: null, failure: 'tls_failed' }],
    ['that has expired', certificate({ name: host, issuer: root, from: new Date(Date.now() - 3 * day), until: new Date(Date.now() - day) }), { status: null, failure: 'tls_failed' }],
    ['that is not valid yet', certificate({ name: host, issuer: root, from: new Date(Date.now() + day), until: new Date(Date.now() + 2 * day) }), { status: null, failure: 'tls_failed' }],
    ['for another name', certificate({ name: 'other.example', issuer: root }), { status: null, failure: 'tls_failed' }],
  ];

  it('counts only if it is valid now, for this name, and from a known authority', async () => {
    for (const [name, shown, expected] of cases) {
      const receiver = await hostile((socket) => socket.end(`${begin}content-length: 2\r\n\r\nok`), shown);
      const one = poster({ authorities: [root.cert], resolve: async () => [{ address: '127.0.0.1', family: 4 }], deadlineMs: 20_000 });
      const { status, failure, timings } = await one.post(post(`https://${host}:${receiver.port}/hostile`));
      expect([name, { status, failure }]).toEqual([name, expected]);
      if (failure === null) expect(Object.keys(timings)).toEqual(['resolve', 'connect', 'tls', 'first_byte']);
    }
  });

  it('that never comes is waited for until the deadline', async () => {
    const silent = createServer((socket) => { socket.on('error', () => undefined); });
    await listen(silent);
    closing.push(() => silent.close());
    const one = poster({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    const { failure } = await one.post(post(`https://${host}:${(silent.address() as AddressInfo).port}/`));
    expect(['timed_out', 'tls_failed']).toContain(failure);
    await one.close();
  });
});

describe('a name', () => {
  const strict = { allowLoopback: false, allowedNetworks: ['127.0.0.2/32'] };
  const answers = (...addresses: string[]) => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  it.each([
    ['a private address', ['10.0.0.1']], ['the metadata address', ['169.254.169.254']], ['loopback', ['127.0.0.1']], ['nothing', ['0.0.0.0']], ['a v4-mapped address', ['::ffff:10.0.0.1']],
    ['a v4-mapped public address', ['::ffff:8.8.8.8']], ['a NAT64 address', ['64:ff9b::a9fe:a9fe']], ['a local NAT64 address', ['64:ff9b:1::a00:1']], ['a 6to4 address', ['2002:a00:1::1']],
    ['a Teredo address', ['2001:0:a00:1::1']], ['a v4-compatible address', ['::a00:1']], ['a unique local address', ['fd00:ec2::254']], ['a link-local address', ['fe80::1']],
    ['a link-local address with a zone', ['fe80::1%eth0']], ['CGNAT', ['100.100.100.200']], ['multicast', ['224.0.0.1']], ['a public and a private address', ['8.8.8.8', '10.0.0.1']],
    ['a private and a public address', ['10.0.0.1', '8.8.8.8']], ['v6 public, v4 private', ['2606:4700:4700::1111', '192.168.0.1']], ['another name', ['internal.example']],
  ])('that resolves to %s is not called', async (_what, addresses) => {
    const one = poster({ ...strict, resolve: async () => answers(...addresses) });
    const result = await one.post(post('https://receiver.example/'));
    expect([result.status, result.failure, result.timings.connect]).toEqual([null, 'address_refused', undefined]);
  });

  it('that resolves to a good address first and a private one next is looked up once for each connection, and only what was checked is dialled', async () => {
    const asked: string[] = [];
    const root = certificate({ name: 'Root of this spec' });
    const answer = (socket: Socket): void => { socket.end(`${begin}connection: close\r\ncontent-length: 2\r\n\r\nok`); };
    const shown = certificate({ name: 'rebind.example', issuer: root });
    const server = createTlsServer({ cert: shown.cert, key: shown.key }, (socket) => socket.once('data', () => answer(socket)));
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    closing.push(() => server.close());
    const resolve = async (name: string) => {
      asked.push(name);
      return answers(asked.length === 1 ? '127.0.0.2' : '127.0.0.1');
    };
    const one = poster({ ...strict, resolve, authorities: [root.cert], deadlineMs: 20_000 });
    const url = `https://rebind.example:${(server.address() as AddressInfo).port}/`;
    expect(await one.post(post(url))).toMatchObject({ status: 200, address: expect.stringMatching(/^127\.0\.0\.2:/) });
    expect(asked).toEqual(['rebind.example']);
    expect(await one.post(post(url))).toMatchObject({ status: null, failure: 'address_refused' });
  });

  it('that does not resolve, or not in time, is given up', async () => {
    const nothing = await poster({ resolve: async () => [] }).post(post('https://receiver.example/'));
    const never = await poster({ resolve: () => new Promise(() => undefined) }).post(post('https://receiver.example/'));
    expect([nothing.failure, never.failure, never.durationMs < deadlineMs + late]).toEqual(['name_not_resolved', 'timed_out', true]);
  });

  it.each([
    'https://127.0.0.1/', 'https://0177.0.0.1/', 'https://0x7f.0.0.1/', 'https://2130706433/', 'https://127.1/', 'https://0/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/', 'https://user@receiver.example/', 'https://receiver.example@127.0.0.1/', 'https://receiver.example:0/', 'http://receiver.example/',
    'gopher://receiver.example/', 'https://127。0。0。1/', 'https://①②⑦.0.0.1/', 'not a url',
  ])('or literal as in %s is not even dialled', async (url) => {
    let asked = 0;
    const one = poster({ allowLoopback: false, resolve: async () => { asked += 1; return answers('8.8.8.8'); } });
    const result = await one.post(post(url));
    expect([result.status, result.failure, asked]).toEqual([null, 'address_refused', 0]);
  });
});
