import type { Command } from 'commander';
import { CommandFailed } from '../command-failed.js';
import { installationHome } from '../folders.js';
import { listen, type Listening } from '../listen/listen.js';

interface Options {
  forwardTo: string;
  events?: string[];
  api?: string;
  token?: string;
}

export function listenCommand(program: Command): void {
  program
    .command('listen')
    .description('forwards webhooks of the running staging environment to a URL, by a temporary endpoint, and prints each with its verdict')
    .requiredOption('--forward-to <url>', 'where each webhook is posted again, with the same headers and bytes')
    .option('--events <types...>', 'event types or prefixes; without it every type')
    .option('--api <url>', 'another environment\'s base URL (with --token); it must run on this machine')
    .option('--token <token>', 'an ADMIN token of it')
    .action(async (options: Options) => {
      const { base, token } = target(options);
      const listening = await listen({ base, token, forwardTo: forwardUrl(options.forwardTo), events: options.events, print: (line) => console.log(line) });
      await untilStopped();
      await close(listening);
    });
}

function target({ api, token }: Options): { base: string; token: string } {
  if ((api === undefined) !== (token === undefined)) throw new CommandFailed('Give --api and --token together, or neither.');
  if (api !== undefined && token !== undefined) return { base: api, token };
  const staging = installationHome().ready()?.staging;
  if (staging === undefined) throw new CommandFailed('Staging does not run here. Start it with `npm start`.');
  return { base: staging.api, token: staging.token };
}

function forwardUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new CommandFailed(`--forward-to ${text} is not an http(s) URL.`);
  return url;
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

async function close(listening: Listening): Promise<void> {
  try {
    await listening.close();
    console.log('The temporary endpoint is removed.');
  } catch (error) {
    throw new CommandFailed(`The temporary endpoint ${listening.endpointId} could not be removed: ${(error as Error).message}`);
  }
}
