import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

interface Rule {
  name: string;
  from: { path: string };
}

const root = resolve('.');
const config = createRequire(import.meta.url)(join(root, '.config/dependency-cruiser.cjs')) as { forbidden: Rule[] };

/** What a seeded file imports to breach a rule that ends in `-never-<what>`. */
const forbiddenThings: Record<string, string> = {
  io: 'node:fs',
  node: 'node:fs',
  zod: 'zod',
  database: 'pg',
  nest: '@nestjs/common',
  temporal: '@temporalio/client',
  workflows: 'workflows/thing.ts',
  activities: 'activities/thing.ts',
  apps: 'apps/worker/thing.ts',
  db: 'libs/db/thing.ts',
  payments: 'libs/payments/thing.ts',
};

/** Files that breach one rule each: path → what it imports. */
function breachOf({ name, from }: Rule): Record<string, string> {
  const room = from.path.replace(/^\^|\/$/g, '');
  const [, what] = /-never-(.+)$/.exec(name) ?? [];
  if (what !== undefined) {
    const thing = forbiddenThings[what];
    if (thing === undefined) throw new Error(`no seed for ${name}`);
    return { [`${room}/${name}.ts`]: `${room}/${name}-via.ts`, [`${room}/${name}-via.ts`]: thing };
  }
  if (name.endsWith('-imports')) return { [`${room}/${name}.ts`]: room === 'apps/simulator' ? 'apps/worker/thing.ts' : 'apps/simulator/thing.ts' };
  switch (name) {
    case 'subscription-writes-only-from-activities':
      return { [`apps/api/${name}.ts`]: 'libs/db/subscription.writes.ts' };
    case 'payment-writes-only-from-payments':
      return { [`activities/${name}.ts`]: 'libs/db/payment.writes.ts' };
    case 'no-circle':
      return { [`libs/db/${name}.ts`]: `libs/db/${name}-back.ts`, [`libs/db/${name}-back.ts`]: `libs/db/${name}.ts` };
    case 'no-test-in-production':
      return { [`libs/db/${name}.ts`]: 'test/thing.ts' };
    default:
      throw new Error(`no seed for ${name}: a rule without a proof that it bites`);
  }
}

function write(folder: string, path: string, imported: string | null): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  if (imported === null) return writeFileSync(file, 'export const thing = 1;\n');
  const specifier = imported.endsWith('.ts') ? `./${relative(dirname(path), imported)}`.replace(/\.ts$/, '.js') : imported;
  writeFileSync(file, `import * as needed from '${specifier}';\nexport const thing = needed;\n`);
}

function cruise(folder: string): Promise<Set<string>> {
  const bin = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [bin, '--config', '.config/dependency-cruiser.cjs', '--output-type', 'json', 'apps', 'workflows', 'activities', 'libs'];
  return new Promise((done, fail) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 100_000_000 }, (error, out, problem) => {
      if (out === '') return fail(error ?? new Error(problem));
      const { summary } = JSON.parse(out) as { summary: { violations: { from: string; rule: { name: string } }[] } };
      done(new Set(summary.violations.map(({ from, rule }) => `${rule.name} in ${from}`)));
    });
  });
}

describe('the import law', () => {
  let folder: string;
  let found: Set<string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-laws-'));
    for (const name of ['.config', 'tsconfig.json', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const things = ['workflows', 'activities', 'apps/worker', 'apps/simulator', 'apps/api', 'apps/cli', 'libs/db', 'libs/payments', 'test'];
    for (const room of things) write(folder, `${room}/thing.ts`, null);
    for (const name of ['subscription', 'payment']) write(folder, `libs/db/${name}.writes.ts`, null);
    for (const rule of config.forbidden) for (const [path, imported] of Object.entries(breachOf(rule))) write(folder, path, imported);
    found = await cruise(folder);
  }, 180_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(config.forbidden)('$name bites', (rule) => {
    const reported = Object.keys(breachOf(rule)).filter((seeded) => found.has(`${rule.name} in ${seeded}`));
    expect(reported).not.toEqual([]);
  });
});
