import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

function rowsOf(page: string): string[][] {
  return readFileSync(page, 'utf8').split('\n').filter((line) => line.startsWith('| [')).map((line) => line.slice(2, -2).split(' | '));
}

function specs(room: string): string[] {
  const names = readdirSync(room, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.ts'));
  return names.map((name) => readFileSync(join(room, name), 'utf8').replaceAll("\\'", "'"));
}

const sources = [...specs('libs'), ...specs('test')];

describe.each(['libs/domain/subscription/README.md', 'libs/webhooks/REPORTED.md'])('the table of reported issues in %s', (page) => {
  const rows = rowsOf(page);

  it.each(rows)('%s: %s is held by a test', (reported, _, test) => {
    expect(reported).toMatch(/\]\(https:\/\//);
    expect(sources.some((source) => source.includes(`('${test}'`))).toBe(true);
  });

  it('has rows', () => expect(rows.length).toBeGreaterThan(20));
});
