import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory in MiB of a process and everything under it; shared pages counted once (PSS) where Linux tells. */
export function residentMiB(pid: number): number {
  return [pid, ...descendants(pid)].reduce((sum, id) => sum + own(id), 0) / 1024;
}

function own(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function descendants(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = Number(readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /, '').split(' ')[1]);
      parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
    } catch {
      continue;
    }
  }
  const children = parents.get(pid) ?? [];
  return children.flatMap((child) => [child, ...descendants(child)]);
}
