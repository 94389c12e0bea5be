import { Option, type Command } from 'commander';
import { listAccounts } from '../../../../libs/db/account.queries.js';
import { settleRestoredPositions } from '../../../../libs/db/restored-positions.writes.js';
import { CommandFailed } from '../command-failed.js';
import { withPayments } from '../payments.js';
import { reconcileAccount, type AccountReport } from '../reconcile/reconcile-account.js';
import { liftStops, stopAccounts } from '../reconcile/restored-stop.js';
import type { EnvironmentName } from '../stack/secret.js';
import { environmentOption } from '../target.js';

interface Options {
  env: EnvironmentName;
  restored: boolean;
  hours: number;
}

export function reconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description('compares every connection\'s payments with the processor\'s own, hands in what can be learned, and prints the differences')
    .addOption(environmentOption().makeOptionMandatory())
    .addOption(new Option('--hours <hours>', 'how far back').default(72).argParser(hoursOf))
    .option('--restored', 'after a restore, before the workers start: stops new charges of every account first, lifts the stops when all is compared', false)
    .action((options: Options) => run(options));
}

function hoursOf(text: string): number {
  const hours = Number(text);
  if (!Number.isInteger(hours) || hours < 1 || hours > 90 * 24) throw new CommandFailed(`--hours ${text} is not a whole number from 1 to 2160.`);
  return hours;
}

async function run({ env, restored, hours }: Options): Promise<void> {
  await withPayments(env, async (deps) => {
    const accounts = await listAccounts(deps.db);
    const stops = restored ? await stopAccounts(deps, accounts) : [];
    if (restored) {
      const moved = await settleRestoredPositions(deps.db);
      if (moved > 0) console.log(`${moved} events and deliveries come from another Postgres: they are listed before what is written from now on`);
    }
    for (const stop of stops) console.log(`stopped ${stop.account} by ${stop.stop}`);
    const reports: AccountReport[] = [];
    for (const account of accounts) reports.push(await reconcileAccount(deps, account, { hours, print: (line) => console.log(line) }));
    const failed = reports.flatMap((report) => report.failed);
    const findings = reports.reduce((sum, report) => sum + report.findings, 0);
    console.log(`${reports.reduce((sum, report) => sum + report.compared, 0)} payments compared, ${findings} differences`);
    if (failed.length > 0) throw new CommandFailed(unfinished(failed, stops.map(({ stop }) => stop)));
    for (const line of await liftStops(deps, stops)) console.log(line);
  });
}

function unfinished(failed: string[], stops: string[]): string {
  const kept = stops.length > 0 ? ` The stops stand: run this again, or lift them with POST /charge-stops/{id}/lift: ${stops.join(', ')}.` : '';
  return `Could not be compared: ${failed.join(', ')}.${kept}`;
}
