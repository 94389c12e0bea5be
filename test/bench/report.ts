import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import type { Sample } from './measure.js';

export interface Figure {
  what: string;
  value: string;
  aim: string;
  /** Null where a figure has no aim. */
  met: boolean | null;
}

/** Three digits at most. */
export const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));

export function show({ rate, p50, p99, errors }: Sample): string {
  return `${round(rate)}/s, p50 ${round(p50)} ms, p99 ${round(p99)} ms${errors ? `, ${errors} errors` : ''}`;
}

export class Report {
  private readonly figures: Figure[] = [];

  add(what: string, value: string, aim = '', met: boolean | null = null): void {
    this.figures.push({ what, value, aim, met });
    process.stdout.write(`  ${what}: ${value}${aim ? ` (aim ${aim}: ${met ? 'met' : 'MISSED'})` : ''}\n`);
  }

  print(): void {
    const mark = (met: boolean | null) => (met === null ? '' : met ? 'yes' : 'NO');
    const rows = this.figures.map(({ what, value, aim, met }) => [what, value, aim, mark(met)]);
    const all = [['measure', 'value', 'aim', 'met'], ...rows];
    const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]!.length)));
    process.stdout.write(`\n${machine()}\n\n`);
    all.forEach((row, index) => {
      process.stdout.write(`| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`);
      if (index === 0) process.stdout.write(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|\n`);
    });
  }
}

function machine(): string {
  const processor = cpus();
  return `machine: ${processor.length} × ${processor[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, commit ${commit()}`;
}

function commit(): string {
  try {
    const head = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    const dirty = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).trim() !== '';
    return dirty ? `${head} with changes` : head;
  } catch {
    return 'unknown';
  }
}
