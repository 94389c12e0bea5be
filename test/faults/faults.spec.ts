import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { ruleNames } from './checker.js';
import { victims } from './disturber.js';
import { faultRun } from './run.js';

/** `SIGNALBOX_FAULT_SEED`: another seed, or `random`. A longer run: `npm run faults -- --seed … --payments …`. */
const asked = process.env.SIGNALBOX_FAULT_SEED;
const seed = asked === 'random' ? String(randomInt(1, 1_000_000)) : (asked ?? '20');

it('keeps everything that must always be true while processes are killed and connections break', async () => {
  const lines: string[] = [];
  const { breaches, summary, folder } = await faultRun({
    seed, payments: 70, execution: 'mixed', dist: resolve(process.env.SIGNALBOX_DIST ?? 'dist'), atOnce: 32, every: { least: 800, most: 2_000 },
    lookups: '1,3,6,10,15,22,30,45', beginMs: 240_000, journeysMs: 240_000, patienceMs: 90_000, keep: false, told: (line) => lines.push(line),
  });
  const found = breaches.map(({ rule, what, ids }) => `${rule}. ${ruleNames[rule]}: ${what}: ${ids.join(', ')}`);
  process.stdout.write(`fault run: seed ${seed}, ${summary.counts.payments} payments, ${summary.counts.calls} calls, ${summary.counts.seconds} s\n`);
  if (found.length > 0) throw new Error(`seed ${seed}, records in ${folder}\n${found.join('\n')}\n${lines.join('\n')}`);
  for (const victim of Object.keys(victims)) expect(summary.counts).toHaveProperty([`kill ${victim}`], expect.any(Number));
  expect(summary.failed).toEqual([]);
  expect(summary.counts.payments).toBeGreaterThan(40);
  expect(summary.counts['unknown outcomes resolved']).toBeGreaterThan(0);
}, 600_000);
