import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ruleNames } from './checker.js';
import { killRun } from './kills/kill-run.js';
import type { Breach } from './records.js';
import { faultRun } from './run.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    payments: { type: 'string', default: '2000' },
    execution: { type: 'string', default: 'mixed' },
    'at-once': { type: 'string', default: '48' },
    minutes: { type: 'string' },
    kills: { type: 'string' },
    keep: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
});
const write = (text: string): void => void process.stdout.write(text);

const started = performance.now();
const told = (line: string): void => {
  if (!values.quiet) write(`  ${((performance.now() - started) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);
};

async function main(): Promise<number> {
  const seed = values.seed ?? String(randomInt(1, 1_000_000));
  if (values.kills !== undefined) return kills(seed, Number(values.kills));
  const payments = Number(values.payments);
  const { execution } = values;
  if (execution !== 'workflow' && execution !== 'inline' && execution !== 'mixed') throw new Error('--execution is workflow, inline or mixed');
  if (!Number.isInteger(payments) || payments < 1) throw new Error('--payments is a whole number');
  const minutes = Number(values.minutes ?? 15 + payments / 20);
  if (!(minutes > 0)) throw new Error('--minutes is a number above 0');
  write(`fault run: seed ${seed}, ${payments} payments, ${execution}\n`);
  const result = await faultRun({
    seed, payments, execution, told, keep: values.keep, atOnce: Number(values['at-once']), beginMs: minutes * 60_000,
    journeysMs: 15 * 60_000 + payments * 3_000, patienceMs: 6 * 60_000,
    dist: fileURLToPath(new URL('../..', import.meta.url)), every: { least: 2_500, most: 10_000 }, lookups: '1,3,6,10,15,25,40,60,85,110,140',
  });
  result.summary.print(write);
  return report(result, `npm run faults -- --seed ${seed} --payments ${payments} --execution ${execution}`);
}

/** Rule 9 is about files, which a run of kills does not search. */
const ruleOfFiles = 9;

/** Kills of API and worker only, beside commits and sends. */
async function kills(seed: string, count: number): Promise<number> {
  if (!Number.isInteger(count) || count < 1) throw new Error('--kills is a whole number');
  write(`kill run: seed ${seed}, ${count} kills\n`);
  const result = await killRun({ seed, kills: count, dist: fileURLToPath(new URL('../..', import.meta.url)), atOnce: 8, temporalAwayMs: 120_000, patienceMs: 6 * 60_000, told });
  for (const [what, times] of Object.entries(result.counts)) write(`  ${what.padEnd(32)}  ${times}\n`);
  return report(result, `npm run faults -- --seed ${seed} --kills ${count}`, ruleOfFiles);
}

function report({ breaches, folder }: { breaches: Breach[]; folder: string | null }, replay: string, except?: number): number {
  write('\n');
  for (const [number, name] of Object.entries(ruleNames)) {
    if (Number(number) === except) continue;
    const found = breaches.filter(({ rule }) => rule === Number(number));
    write(`${found.length === 0 ? 'kept  ' : 'BROKEN'} ${number}. ${name}\n`);
    for (const { what, ids } of found.slice(0, 20)) write(`         ${what}: ${ids.join(', ')}\n`);
    if (found.length > 20) write(`         and ${found.length - 20} more\n`);
  }
  if (breaches.length > 0) write(`\nreplay: ${replay}\n`);
  if (folder) write(`records: ${folder}\n`);
  return breaches.length > 0 ? 1 : 0;
}

process.exitCode = await main();
