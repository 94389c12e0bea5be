import { connect, type Socket } from 'node:net';

export interface LightAnswer {
  status: number;
  body: string;
}

interface Line {
  socket: Socket;
  received: string;
  asked: { resolve(answer: LightAnswer): void; reject(error: Error): void } | null;
}

/**
 * HTTP/1.1 over kept-alive sockets, one request at a time on each, for answers with a `content-length`: what a load generator on the
 * same machine spends is taken from what it measures. Bodies are ASCII or escaped.
 */
export class LightClient {
  private readonly idle: Line[] = [];
  private readonly lines = new Set<Line>();
  private readonly address: URL;
  private readonly head: string;

  constructor(url: string, headers: Record<string, string>) {
    this.address = new URL(url);
    this.head = Object.entries({ host: this.address.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  }

  /** A POST ready to be sent any number of times. */
  rendered(path: string, body: object): string {
    const text = JSON.stringify(body);
    return `POST ${path} HTTP/1.1\r\n${this.head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  }

  send(request: string): Promise<LightAnswer> {
    const line = this.idle.pop() ?? this.open();
    return new Promise((resolve, reject) => {
      line.asked = { resolve, reject };
      line.socket.write(request);
    });
  }

  close(): void {
    for (const { socket } of this.lines) socket.destroy();
  }

  private open(): Line {
    const socket = connect({ host: this.address.hostname, port: Number(this.address.port), noDelay: true });
    const line: Line = { socket, received: '', asked: null };
    const lost = (error?: Error): void => {
      this.lines.delete(line);
      const at = this.idle.indexOf(line);
      if (at >= 0) this.idle.splice(at, 1);
      line.asked?.reject(error ?? new Error('the connection was closed'));
      line.asked = null;
    };
    this.lines.add(line);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.read(line, chunk));
    socket.on('error', lost);
    socket.on('close', () => lost());
    return line;
  }

  private read(line: Line, chunk: string): void {
    line.received = line.received === '' ? chunk : line.received + chunk;
    const end = line.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = line.received.slice(0, end);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) return void line.socket.destroy(new Error(`an answer without a length: ${head}`));
    if (line.received.length < end + 4 + length) return;
    const answer = { status: Number(head.slice(9, 12)), body: line.received.slice(end + 4, end + 4 + length) };
    const { asked } = line;
    line.received = '';
    line.asked = null;
    this.idle.push(line);
    asked?.resolve(answer);
  }
}
