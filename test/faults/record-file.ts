import { closeSync, openSync, writeSync } from 'node:fs';

/** An append-only file of JSON lines; a line is with the system before `append` returns. */
export class RecordFile {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  append(record: object): void {
    writeSync(this.#file, `${JSON.stringify(record)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}
