import { spawn } from 'node:child_process';
import { jest } from '@jest/globals';
import { runConformance } from '../../apps/cli/src/conformance/conformance.js';
import { cliEntry, CliRun } from '../support/installation.js';
import { ReferenceProvider } from './reference-provider.js';

jest.setTimeout(180_000);

async function failuresOf(provider: ReferenceProvider): Promise<string[]> {
  const print = () => undefined;
  const results = await runConformance({ url: provider.url, secret: provider.secret, callbackPort: 0, print });
  return results.filter(({ verdict }) => verdict === 'failed').map(({ name }) => name);
}

describe('the conformance kit', () => {
  let provider: ReferenceProvider;

  afterEach(() => provider.remove());

  it('finds that the reference provider keeps every promise', async () => {
    provider = await ReferenceProvider.start();
    const lines: string[] = [];
    const results = await runConformance({ url: provider.url, secret: provider.secret, callbackPort: 0, print: (line) => lines.push(line) });
    expect(results.filter(({ verdict }) => verdict !== 'passed').map(({ name, verdict }) => [name, verdict])).toEqual([['challenge', 'skipped'], ['pending', 'skipped']]);
    expect(results.length).toBeGreaterThan(40);
    expect(lines).toHaveLength(results.length);
  });

  const everyKey = ['same-key', 'same-key-other-body', 'same-key-at-once', 'same-reference-other-key', 'same-key-capture', 'same-key-refund'];

  it.each<[broken: string, failures: string[]]>([
    ['idempotency', ['key-required', 'token', ...everyKey]],
    ['reference', ['same-reference-other-key']],
    ['reused-key', ['same-key-other-body']],
    ['signature', ['missing', 'wrong', 'unknown-key', 'stale', 'future', 'covers-body', 'covers-path', 'covers-key'].map((name) => `signature-${name}`)],
    ['clock', ['signature-stale', 'signature-future']],
    ['unsigned', ['check']],
    ['amounts', ['capture-too-much', 'refund-too-much']],
    ['fields', ['invalid-fields', 'key-required']],
    ['closed', ['void-before-payment']],
    ['callback', ['callback']],
  ])('names exactly what a provider breaks: %s', async (broken, failures) => {
    provider = await ReferenceProvider.start({ broken });
    expect(await failuresOf(provider)).toEqual(failures);
  });

  it.each([
    ['race', 'same-key-at-once'],
    ['lookup', 'lookup-payment'],
    ['eventual', 'lookup-payment'],
  ])('names, among what follows from it, what a provider breaks: %s', async (broken, failure) => {
    provider = await ReferenceProvider.start({ broken });
    expect(await failuresOf(provider)).toContain(failure);
  });
});

describe('signalbox conformance', () => {
  let provider: ReferenceProvider;

  afterEach(() => provider.remove());

  async function run(secret: string): Promise<CliRun> {
    const args = ['conformance', '--url', provider.url, '--secret', secret, '--callback-port', '0'];
    const cli = new CliRun(spawn(process.execPath, [cliEntry, ...args], { env: { PATH: process.env.PATH, HOME: process.env.HOME } }));
    await cli.exit;
    return cli;
  }

  it('ends with 0 and counts what passed', async () => {
    provider = await ReferenceProvider.start();
    const cli = await run(provider.secret);
    expect([await cli.exit, cli.output]).toEqual([0, expect.stringMatching(/pass {2}same-key .*\n[^]*\d+ passed, 0 failed, 2 skipped\n$/)]);
  });

  it('ends with 1 and says what failed and what was found instead', async () => {
    provider = await ReferenceProvider.start({ broken: 'clock' });
    const cli = await run(provider.secret);
    expect([await cli.exit, cli.output]).toEqual([1, expect.stringMatching(/FAIL {2}signature-stale .*\n +answered 200, expected a refusal\n[^]*2 failed/)]);
  });

  it('tells another secret at once', async () => {
    provider = await ReferenceProvider.start();
    const cli = await run('x'.repeat(40));
    expect([await cli.exit, cli.output]).toEqual([1, expect.stringContaining('signed with the unknown key')]);
    expect(cli.output.match(/FAIL/g)).toHaveLength(1);
  });
});
