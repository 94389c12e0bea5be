import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LedgerEntry, LedgerFact } from './ledger-entry.js';

/** A power cut loses at most this. */
const syncEveryMs = 1_000;

/**
 * The append-only file behind the simulator, one JSON object a line. `append` takes effect in memory at once;
 * `durable` resolves when everything appended so far is written. Nothing may be answered before that: so `kill -9`
 * loses only what nobody was told. Lines that wait are written together. A real provider has a disk of its own: so that this one does not hold up
 * the commits that it shares its disk with, it is synced once a second, and nobody waits for that.
 */
export class Ledger {
  readonly entries: LedgerEntry[];
  private last: Promise<void> = Promise.resolve();
  private waiting: string[] | null = null;
  private sync: NodeJS.Timeout | null = null;
  private syncing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    entries: LedgerEntry[],
    private readonly onLost: (error: Error) => void,
  ) {
    this.entries = entries;
  }

  /** Opens and replays the file; a torn last line, left by a crash, is cut off. `onLost`: the disk refused a write. */
  static async open(path: string, onLost: (error: Error) => void): Promise<Ledger> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, 'a+', 0o600);
    const bytes = await readFile(path);
    const whole = bytes.lastIndexOf(10) + 1;
    if (whole < bytes.length) await file.truncate(whole);
    const lines = bytes.subarray(0, whole).toString('utf8').split('\n').filter(Boolean);
    return new Ledger(file, lines.map((line) => JSON.parse(line) as LedgerEntry), onLost);
  }

  append(fact: LedgerFact): LedgerEntry {
    const entry: LedgerEntry = { seq: this.entries.length + 1, at: new Date().toISOString(), ...fact };
    this.entries.push(entry);
    const line = `${JSON.stringify(entry)}\n`;
    if (this.waiting) this.waiting.push(line);
    else this.begin([line]);
    return entry;
  }

  durable(): Promise<void> {
    return this.last;
  }

  async close(): Promise<void> {
    await this.last;
    if (this.sync) clearTimeout(this.sync);
    await this.syncing;
    await this.file.datasync();
    await this.file.close();
  }

  private begin(lines: string[]): void {
    this.waiting = lines;
    this.last = this.last.then(async () => {
      this.waiting = null;
      await this.file.appendFile(lines.join(''));
      this.sync ??= setTimeout(() => this.syncNow(), syncEveryMs);
    });
    this.last.catch(this.onLost);
  }

  private syncNow(): void {
    this.sync = null;
    this.syncing = this.syncing.then(() => this.file.datasync()).catch(this.onLost);
  }
}
