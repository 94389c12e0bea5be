import { InvalidArgumentError, Option, type Command } from 'commander';
import { addressProblem } from '../../../../libs/processors/http/http.settings.js';
import { CommandFailed } from '../command-failed.js';
import { runConformance } from '../conformance/conformance.js';

interface Options {
  url: string;
  secret: string;
  callbackPort?: number;
}

export function conformanceCommand(program: Command): void {
  program
    .command('conformance')
    .description('tries a provider\'s sandbox against the contract of libs/processors/http and prints what passes; it makes payments there')
    .requiredOption('--url <url>', 'base address of the sandbox: https, or http on this machine')
    .addOption(new Option('--secret <secret>', 'the secret that both sides sign with').env('SIGNALBOX_CONFORMANCE_SECRET').makeOptionMandatory())
    .option('--callback-port <port>', 'receive callbacks on this port of 127.0.0.1 (0: any free one); without it they are not checked', portOf)
    .action(async ({ url, secret, callbackPort }: Options) => {
      const problem = addressProblem(url, { allowLoopback: true });
      if (problem) throw new CommandFailed(`--url ${url}: ${problem}.`);
      const results = await runConformance({ url, secret, callbackPort: callbackPort ?? null, print: (line) => console.log(line) });
      const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
      console.log(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
      if (count('failed') > 0) throw new CommandFailed('The provider does not keep the contract yet.');
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('Expected a port.');
  return port;
}
