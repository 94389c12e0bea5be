import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeLock } from './lock.js';
import { identify, isAlive, type ProcessIdentity } from './process.js';

let folder: string;
const path = () => join(folder, 'lock');
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'signalbox-lock-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function hold(owner: ProcessIdentity): void {
  writeFileSync(path(), JSON.stringify(owner));
}

describe('takeLock', () => {
  it('takes a free lock and gives it back', () => {
    const lock = takeLock(path());
    if ('heldBy' in lock) throw new Error('held');
    expect(takeLock(path())).toEqual({ heldBy: identify(process.pid) });
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('answers a living owner', async () => {
    const child = spawn('sleep', ['30']);
    const owner = identify(child.pid!)!;
    hold(owner);
    expect(takeLock(path())).toEqual({ heldBy: owner });
    const gone = new Promise((done) => child.once('close', done));
    child.kill('SIGKILL');
    await gone;
    expect(isAlive(owner)).toBe(false);
    expect(takeLock(path())).toHaveProperty('release');
  });

  it('takes no notice of an owner whose number another process has now', () => {
    hold({ pid: process.ppid, startedAt: 'long ago' });
    expect(takeLock(path())).toHaveProperty('release');
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  it('leaves a lock alone that somebody else has taken meanwhile', () => {
    const lock = takeLock(path());
    if ('heldBy' in lock) throw new Error('held');
    hold({ pid: 1, startedAt: 'other' });
    lock.release();
    expect(existsSync(path())).toBe(true);
  });
});
