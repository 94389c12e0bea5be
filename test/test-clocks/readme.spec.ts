import { spawn } from 'node:child_process';
import { CliRun } from '../support/installation.js';
import { freshAccount } from '../support/account.js';
import { commandsOf, firstCommands } from '../support/readme.js';

describe('the root README', () => {
  it('rehearses a year with a failing card when its commands are run as they stand', async () => {
    const { admin } = await freshAccount();
    const script = `${firstCommands(admin)}\n${commandsOf('Rehearse a year')}`;
    const run = new CliRun(spawn('bash', ['-e', '-o', 'pipefail', '-c', script]));
    const exit = await run.exit;
    const lines = run.output.trimEnd().split('\n');
    const standings = lines.filter((line) => line.startsWith('active '));
    expect([exit, standings.slice(0, 2)]).toEqual([0, ['active current next try ', 'active past_due next try 2030-04-15T00:00:00.000Z']]);
    expect(standings.slice(2)).toEqual(['active current next try ', 'active current next try ']);
    const months = Array.from({ length: 12 }, (_, index) => `2030-${String(index + 1).padStart(2, '0')}`);
    expect(lines.slice(-12)).toEqual(months.map((month) => `${month}-01 paid ${month === '2030-04' ? '2030-04-12' : `${month}-01`}T00:00:00.000Z`));
  }, 180_000);
});
