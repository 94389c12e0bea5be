import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cliEntry, CliRun } from '../support/installation.js';
import { freshAccount } from '../support/account.js';
import { freePort } from '../support/port.js';

const readme = readFileSync('libs/processors/http/README.md', 'utf8');

describe('the page for newcomers', () => {
  it('leads to a first payment when its commands are run as they stand', async () => {
    const { admin } = await freshAccount();
    const folder = mkdtempSync(join(tmpdir(), 'own-provider-'));
    const [start, ...blocks] = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1]!);
    expect(start).toBe('npm start\n');
    const port = await freePort();
    const script = blocks.join('\n')
      .replaceAll('npm run -s cli --', `"${process.execPath}" "${cliEntry}"`)
      .replace(/^API=.*$/m, `API='${admin.url}'; TOKEN='${admin.token}'`)
      .replaceAll('provider.ndjson', join(folder, 'provider.ndjson'))
      .replaceAll('4900 LEDGER', `${port} LEDGER`).replaceAll(':4900', `:${port}`);
    const run = new CliRun(spawn('bash', ['-e', '-o', 'pipefail', '-c', `trap 'kill $(jobs -p)' EXIT\n${script}`]));
    const exit = await run.exit;
    rmSync(folder, { recursive: true });
    expect([exit, run.output]).toEqual([0, expect.stringMatching(/ 0 failed[^]*"ok":true[^]*"status":"succeeded"[^]*\n1\n$/)]);
  }, 180_000);
});
