import { transformSync } from '@swc/core';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Lives through histories that cross the changes of clocks, and prints all that anybody could see of them. */
const script = `
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { boundary } from './domain/period/period.js';
import { beginnings, histories } from './domain/subscription/subscription.histories.js';
import { RealSubscription } from './domain/subscription/subscription.real.js';
const hash = createHash('sha256');
for (const day of ['2027-03-14T02:30:00Z', '2027-03-28T01:30:00Z', '2027-10-31T00:59:59Z', '2027-11-07T06:00:00Z', '2011-12-30T10:00:00Z'])
  for (const unit of ['day', 'week', 'month', 'year']) for (let n = -60; n < 60; n += 1) hash.update(boundary(new Date(day), { unit, count: 1 }, n).toISOString());
for (const [from, history] of fc.sample(fc.tuple(beginnings, histories), { numRuns: 150, seed: 5 })) {
  try {
    const real = new RealSubscription(from);
    for (const act of history) real.perform(act);
    hash.update(JSON.stringify(real.seen()));
  } catch (error) {
    hash.update(error.message);
  }
}
console.log(hash.digest('hex'), new Date(2027, 6, 1).getTimezoneOffset());
`;

describe('time zones', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-zones-'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'live.js'), script);
    for (const room of ['domain', 'errors']) {
      for (const file of readdirSync(join('libs', room), { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
        const target = join(folder, room, file.replace(/\.ts$/, '.js'));
        mkdirSync(dirname(target), { recursive: true });
        const source = readFileSync(join('libs', room, file), 'utf8');
        writeFileSync(target, transformSync(source, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } }).code);
      }
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function live(zone: string): Promise<string> {
    return new Promise((done, fail) => {
      execFile(process.execPath, ['live.js'], { cwd: folder, env: { TZ: zone } }, (error, out) => (error ? fail(error) : done(out.trim())));
    });
  }

  it('and their changes of clocks move no period and no cent', async () => {
    const told = new Map<string, string>();
    for (const zone of ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Apia']) told.set(zone, await live(zone));
    const offsets = [...told.values()].map((line) => line.split(' ')[1]);
    expect(offsets.slice(0, 4)).toEqual(['0', '240', '-120', '-345']);
    expect(new Set([...told.values()].map((line) => line.split(' ')[0])).size).toBe(1);
  }, 60_000);
});
