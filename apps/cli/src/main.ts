import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { accountCommand } from './commands/account.js';
import { bundleCommand } from './commands/bundle.js';
import { conformanceCommand } from './commands/conformance.js';
import { listenCommand } from './commands/listen.js';
import { migrateCommand } from './commands/migrate.js';
import { reconcileCommand } from './commands/reconcile.js';
import { startCommand } from './commands/start.js';
import { stopCommand } from './commands/stop.js';
import { tokenCommand } from './commands/token.js';
import { tourCommand } from './commands/tour.js';
import { CommandFailed } from './command-failed.js';

/** One entry per command; each is a file in `commands/`. */
const commands = [startCommand, stopCommand, migrateCommand, accountCommand, tokenCommand, tourCommand, listenCommand, reconcileCommand, conformanceCommand, bundleCommand];

/** Runs the command line `signalbox <args>`. Sets the exit code; never throws. */
export async function run(args: string[]): Promise<void> {
  const program = new Command('signalbox').description('Payment orchestration on Temporal and Postgres').exitOverride();
  for (const add of commands) add(program);
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
