import { closeSync, copyFileSync, openSync, readFileSync, readSync, statSync, truncateSync } from 'node:fs';
import type { Home } from './stack/home.js';

const lookEveryMs = 250;
const largestLogBytes = 100_000_000;
const colours: Record<string, string> = { warn: '\x1b[33m', error: '\x1b[31m', fatal: '\x1b[31m' };

/** Our own processes write JSON into files; in a terminal their lines appear short, otherwise only warnings and errors do. */
export class LogTail {
  private readonly positions = new Map<string, number>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly home: Home,
    private readonly output: NodeJS.WriteStream = process.stdout,
  ) {}

  /** Shows from now on what these processes log. */
  follow(names: string[]): void {
    const ours = names.filter((name) => /^(api|worker|simulator)/.test(name));
    for (const name of ours) this.positions.set(name, this.sizeOf(name));
    this.timer = setInterval(() => ours.forEach((name) => this.show(name)), lookEveryMs);
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** The end of a log, for a start that failed. */
  lastLines(name: string, count = 15): string {
    try {
      return readFileSync(this.fileOf(name), 'utf8').trimEnd().split('\n').slice(-count).map((line) => `  ${line}`).join('\n');
    } catch {
      return '';
    }
  }

  private show(name: string): void {
    const size = this.sizeOf(name);
    const from = Math.min(this.positions.get(name) ?? 0, size);
    const text = this.read(name, from, size);
    const whole = text.lastIndexOf('\n') + 1;
    this.positions.set(name, from + Buffer.byteLength(text.slice(0, whole)));
    for (const line of text.slice(0, whole).split('\n')) {
      const short = line === '' ? null : shortLine(name, line, this.output.isTTY === true);
      if (short !== null) this.output.write(`${short}\n`);
    }
    if (size > largestLogBytes) this.setAside(name);
  }

  private read(name: string, from: number, to: number): string {
    if (to <= from) return '';
    const buffer = Buffer.alloc(Math.min(to - from, 1_000_000));
    const file = openSync(this.fileOf(name), 'r');
    try {
      return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, from));
    } finally {
      closeSync(file);
    }
  }

  /** The process keeps its file open and appends: the content is copied away and the same file emptied. */
  private setAside(name: string): void {
    copyFileSync(this.fileOf(name), `${this.fileOf(name)}.1`);
    truncateSync(this.fileOf(name));
    this.positions.set(name, 0);
  }

  private sizeOf(name: string): number {
    return statSync(this.fileOf(name), { throwIfNoEntry: false })?.size ?? 0;
  }

  private fileOf(name: string): string {
    return this.home.file('logs', `${name}.log`);
  }
}

interface Line {
  time?: string;
  level?: string;
  msg?: string;
  [field: string]: unknown;
}

const shown = ['method', 'url', 'route', 'status', 'duration_ms', 'workflow_id', 'object_id', 'event_id', 'code', 'request_id'];

/** `12:00:03 api-staging  request POST /customers/ 201 …`; null for a line that is not worth showing here. */
export function shortLine(name: string, text: string, inTerminal: boolean): string | null {
  const line = parse(text);
  if (line === null) return `${' '.repeat(9)}${name.padEnd(18)} ${text}`;
  const level = line.level ?? 'info';
  const serious = level in colours;
  if (!serious && (!inTerminal || level !== 'info')) return null;
  const fields = shown.filter((key) => line[key] !== undefined && line[key] !== null).map((key) => String(line[key]));
  const error = (line.err as { message?: string } | undefined)?.message;
  const words = [line.msg ?? '', ...fields, ...(error === undefined ? [] : [error])].join(' ');
  const colour = inTerminal ? colours[level] : undefined;
  return `${(line.time ?? '').slice(11, 19).padEnd(8)} ${name.padEnd(18)} ${colour === undefined ? words : `${colour}${words}\x1b[0m`}`;
}

function parse(text: string): Line | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
