import type { Command } from 'commander';
import { openAccount } from '../../../../libs/db/account.writes.js';
import { publicId } from '../../../../libs/views/ids.js';
import { environmentOption, targetOf, withDatabase } from '../target.js';
import type { EnvironmentName } from '../stack/secret.js';

export function accountCommand(program: Command): void {
  program
    .command('account')
    .description('accounts of this installation')
    .command('create')
    .description('makes an account with one ADMIN token and prints both; the token is shown only now')
    .argument('<name>')
    .addOption(environmentOption().default('staging'))
    .action(async (name: string, { env }: { env: EnvironmentName }) => {
      const { environment, databaseUrl, tokenKey } = targetOf(env);
      const { account, token } = await withDatabase(databaseUrl, (db) => openAccount(db, { environment, name, tokenKey }));
      console.log(`account ${publicId('acct', environment, account.id)}\ntoken   ${token}`);
    });
}
