import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** What the disk itself takes meanwhile for what each commit waits for: a page and `fdatasync`, a hundred a second. Answers any message. */
const pages = 2_048;
const path = join(tmpdir(), `signalbox-bench-disk.${process.pid}`);
const page = Buffer.alloc(8_192, 1);
const file = openSync(path, 'w');
for (let index = 0; index < pages; index += 1) writeSync(file, page);
fdatasyncSync(file);

let took: number[] = [];
let next = 0;

function write(): void {
  const at = performance.now();
  writeSync(file, page, 0, page.length, (next++ % pages) * page.length);
  fdatasyncSync(file);
  took.push(performance.now() - at);
  setTimeout(write, 10);
}

process.on('message', () => {
  process.send?.({ report: took });
  took = [];
});
process.on('disconnect', () => {
  closeSync(file);
  rmSync(path, { force: true });
  process.exit(0);
});
process.send?.({ url: '' });
write();
