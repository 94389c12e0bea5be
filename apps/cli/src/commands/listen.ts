import { Option, type Command } from 'commander';
import { refuseSecret } from '../../../../libs/webhooks/secret.js';
import { CommandFailed } from '../command-failed.js';
import { installationHome } from '../folders.js';
import { listen } from '../listen/listen.js';

interface Options {
  forwardTo?: string;
  events?: string[];
  object?: string;
  customer?: string;
  text?: string;
  after?: string;
  format: 'object' | 'string';
  secret?: string;
  json?: boolean;
  api?: string;
  token?: string;
}

export function listenCommand(program: Command): void {
  program
    .command('listen')
    .description('prints the events of the running staging environment as they happen, and posts them to a URL, signed as webhooks are')
    .option('--forward-to <url>', 'where each event is posted with the bytes and signatures of a webhook')
    .option('--events <types...>', 'event types or prefixes; without it every type')
    .option('--object <id>', 'only events of this object')
    .option('--customer <id>', 'only events of this customer')
    .option('--text <text>', 'only events that hold this text')
    .option('--after <event>', 'begins after this event instead of now')
    .addOption(new Option('--format <format>', 'data format of the posts').choices(['object', 'string']).default('object'))
    .option('--secret <whsec>', 'signs the posts with this secret; without it with one that belongs to the token')
    .option('--json', 'prints whole events')
    .option('--api <url>', 'another environment\'s base URL (with --token)')
    .option('--token <token>', 'a token of it; READ_ONLY is enough')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const forwardTo = options.forwardTo === undefined ? undefined : forwardUrl(options.forwardTo);
  const query = { type: options.events?.join(','), object_id: options.object, customer_id: options.customer, q: options.text, after: options.after };
  const { format, json } = options;
  const listening = listen({ ...target(options), forwardTo, secret: secretOf(options), format, json, query, print: (line) => console.log(line) });
  if (forwardTo) console.error(`Posting to ${forwardTo.href}, signed with ${listening.secret}`);
  await Promise.race([untilStopped(), listening.ended]);
  await listening.close();
}

function secretOf({ secret }: Options): string | undefined {
  const refusal = secret === undefined ? null : refuseSecret(secret);
  if (refusal) throw new CommandFailed(`--secret: ${refusal}.`);
  return secret;
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
