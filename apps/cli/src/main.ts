import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { CommandFailed } from './command-failed.js';

type AddCommand = (program: Command) => void;

/** One entry per command; each is a file in `commands/`, loaded when it is asked for: what it needs may be a lot. */
const commands: Record<string, () => Promise<AddCommand>> = {
  start: async () => (await import('./commands/start.js')).startCommand,
  stop: async () => (await import('./commands/stop.js')).stopCommand,
  migrate: async () => (await import('./commands/migrate.js')).migrateCommand,
  account: async () => (await import('./commands/account.js')).accountCommand,
  token: async () => (await import('./commands/token.js')).tokenCommand,
  tour: async () => (await import('./commands/tour.js')).tourCommand,
  listen: async () => (await import('./commands/listen.js')).listenCommand,
  reconcile: async () => (await import('./commands/reconcile.js')).reconcileCommand,
  conformance: async () => (await import('./commands/conformance.js')).conformanceCommand,
  bundle: async () => (await import('./commands/bundle.js')).bundleCommand,
};

/** Runs the command line `signalbox <args>`. Sets the exit code; never throws. */
export async function run(args: string[]): Promise<void> {
  const program = new Command('signalbox').description('Payment orchestration on Temporal and Postgres').exitOverride();
  const asked = Object.entries(commands).filter(([name]) => name === args[0]);
  for (const [, load] of asked.length > 0 ? asked : Object.entries(commands)) (await load())(program);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      const text = error instanceof CommandFailed ? error.message : ((error as Error).stack ?? String(error));
      process.stderr.write(`${text}\n`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await run(process.argv.slice(2));
