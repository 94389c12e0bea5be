import { resolve } from 'node:path';
import { ruleNames } from './checker.js';
import { killRun } from './kills/kill-run.js';

/** The longer run: `npm run faults -- --seed … --kills 200`. */
it('loses no event while API and worker are killed beside commits and sends, and repeats only the same bytes', async () => {
  const dist = resolve(process.env.SIGNALBOX_DIST ?? 'dist');
  const { breaches, counts, folder } = await killRun({ seed: '7', kills: 10, dist, atOnce: 6, temporalAwayMs: 0, patienceMs: 60_000, told: () => undefined });
  process.stdout.write(`kill run: ${Object.entries(counts).map(([what, count]) => `${count} ${what}`).join(', ')}\n`);
  const found = breaches.map(({ rule, what, ids }) => `${rule}. ${ruleNames[rule]}: ${what}: ${ids.join(', ')}`);
  if (found.length > 0) throw new Error(`records in ${folder}\n${found.join('\n')}`);
  expect(counts['deliveries lost']).toBe(0);
  expect(counts.events).toBeGreaterThan(50);
  expect(counts['posts received']).toBeGreaterThanOrEqual(counts.deliveries!);
}, 240_000);
