import type { Command } from 'commander';
import { migrate } from '../../../../libs/db/migrate.js';
import { databaseUrlFor, environmentOption } from '../target.js';
import { environmentNames, type EnvironmentName } from '../stack/secret.js';

export function migrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('brings the databases to the newest schema')
    .addOption(environmentOption('only this environment'))
    .action(async ({ env }: { env?: EnvironmentName }) => {
      for (const environment of env === undefined ? environmentNames : [env]) {
        await migrate(databaseUrlFor(environment));
        console.log(`${environment}: up to date`);
      }
    });
}
