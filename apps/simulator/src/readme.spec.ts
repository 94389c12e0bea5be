import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { simulatorOutcomeNames, simulatorOutcomes, type SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';
import { testCards, type TestCard } from '../../../libs/processors/simulator/test-card.js';

const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');

function grouped<T>(entries: readonly T[], row: (entry: T) => string, name: (entry: T) => string): string[] {
  const groups = new Map<string, string[]>();
  for (const entry of entries) groups.set(row(entry), [...(groups.get(row(entry)) ?? []), name(entry)]);
  return [...groups].map(([text, names]) => text.replace('§', names.join(' ')));
}

function cardRow(card: TestCard): string {
  const charge = card.afterChallenge ? `${card.atCharge}, then ${card.afterChallenge}` : card.atCharge;
  return `| § | ${card.atAuthorisation} | ${charge} |`;
}

describe('the room\'s README', () => {
  it('shows the test cards as they are', () => {
    const table = ['| test card | at authorisation | at charge |', '|---|---|---|', ...grouped(testCards, cardRow, (card) => card.number)];
    expect(readme).toContain(table.join('\n'));
  });

  it('shows the outcomes as they are', () => {
    const row = (name: SimulatorOutcome) => `| § | ${simulatorOutcomes[name].answers} | ${simulatorOutcomes[name].effect} |`;
    const rows = grouped(simulatorOutcomeNames, row, (name) => `\`${name}\``);
    expect(readme).toContain(['| outcome | read as | effect |', '|---|---|---|', ...rows].join('\n'));
  });
});
