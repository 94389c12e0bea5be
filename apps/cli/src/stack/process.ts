import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process for certain: a number alone may be taken by a stranger after a restart. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** When the process with this number was started, in the system's own terms; null if there is none, or only a zombie. */
export function startTimeOf(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? null : `${bootId()}:${fields[19]}`;
    }
    const [state, ...started] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim().split(/\s+/);
    return state === undefined || state.startsWith('Z') ? null : started.join(' ');
  } catch {
    return null;
  }
}

let knownBootId: string | undefined;

function bootId(): string {
  knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return knownBootId;
}

/** The parent of a process, or null if the process is gone. */
export function parentOf(pid: number): number | null {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim());
  } catch {
    return null;
  }
}

/** The command line of a process, its parts joined by spaces, or null if the process is gone. */
export function commandLineOf(pid: number): string | null {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

/** Living processes that work in a folder. */
export function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return processesNaming(folder);
  const pids = readdirSync('/proc').map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  return pids.filter((pid) => workingFolderOf(pid) === folder && startTimeOf(pid) !== null);
}

function workingFolderOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** Where the working folder cannot be read: processes whose command line names the folder. */
function processesNaming(folder: string): number[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder)).map((line) => Number(line.trim().split(' ')[0])).filter((pid) => pid !== process.pid);
}

export function identify(pid: number): ProcessIdentity | null {
  const startedAt = startTimeOf(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.startedAt;
}

/** Sends a signal to exactly this process; false if it is gone. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, name);
  } catch {
    return false;
  }
}

/** Asks the process to stop and, when the grace is over, ends it. Resolves when it is gone. */
export async function end(identity: ProcessIdentity, name: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!signal(identity, name)) return;
  if (await waitUntil(() => !isAlive(identity), graceMs)) return;
  signal(identity, 'SIGKILL');
  await waitUntil(() => !isAlive(identity), 10_000);
}

/** Polls until the condition holds; false if it does not in time. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, timeoutMs: number, intervalMs = 25): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
