import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step, so that a reader or a crash sees the old or the new content and nothing between. */
export function writeWhole(path: string, content: string, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(temporary, 'wx', mode);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

export function writeJson(path: string, value: unknown, mode = 0o600): void {
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`, mode);
}

/** The value in a JSON file, or null if there is no such file. */
export function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
