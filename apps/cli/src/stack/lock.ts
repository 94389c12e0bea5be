import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { identify, isAlive, type ProcessIdentity } from './process.js';

export interface Lock {
  release(): void;
}

/** Takes the lock file for this process, also from an owner that is dead. Answers the living owner if there is one. */
export function takeLock(path: string): Lock | { heldBy: ProcessIdentity } {
  const me = identify(process.pid) as ProcessIdentity;
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(mine, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
  try {
    for (;;) {
      if (tryLink(mine, path)) return { release: () => releaseOwn(path, me) };
      const owner = ownerOf(path);
      if (owner !== null && isAlive(owner)) return { heldBy: owner };
      if (owner !== null) setDeadAside(path, owner);
    }
  } finally {
    unlinkSync(mine);
  }
}

/** The owner named in a lock file, dead or alive; null if there is no such file. */
export function ownerOf(path: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Two processes may see the same dead owner: whoever moved a living owner's file away by that puts it back. */
function setDeadAside(path: string, dead: ProcessIdentity): void {
  const aside = `${path}.dead.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = ownerOf(aside);
  if (moved !== null && (moved.pid !== dead.pid || moved.startedAt !== dead.startedAt)) tryLink(aside, path);
  unlinkSync(aside);
}

function releaseOwn(path: string, me: ProcessIdentity): void {
  const owner = ownerOf(path);
  if (owner?.pid === me.pid && owner.startedAt === me.startedAt) unlinkSync(path);
}
