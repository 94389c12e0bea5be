import { Option, type Command } from 'commander';
import { findAccount, listAccounts } from '../../../../libs/db/account.queries.js';
import { systemChange } from '../../../../libs/db/account.writes.js';
import { transact } from '../../../../libs/db/change.js';
import type { Db } from '../../../../libs/db/client.js';
import { newId } from '../../../../libs/db/mint.js';
import type { AccountRow } from '../../../../libs/db/schema/index.js';
import { createToken } from '../../../../libs/db/token.writes.js';
import { roles, type Role } from '../../../../libs/domain/role.js';
import { parsePublicId, publicId } from '../../../../libs/views/ids.js';
import { CommandFailed } from '../command-failed.js';
import { environmentOption, targetOf, withDatabase, type Target } from '../target.js';
import type { EnvironmentName } from '../stack/secret.js';

interface Options {
  role: Role;
  env: EnvironmentName;
  name: string;
  account?: string;
}

export function tokenCommand(program: Command): void {
  program
    .command('token')
    .description('API tokens')
    .command('create')
    .description('makes an API token and prints it; it is shown only now')
    .addOption(new Option('--role <role>', 'what the token may do').choices(roles).makeOptionMandatory())
    .addOption(environmentOption().default('staging'))
    .option('--name <name>', 'name in the list of tokens', 'From the command line')
    .option('--account <id>', 'account, where there are several')
    .action(async (options: Options) => {
      const target = targetOf(options.env);
      console.log(await withDatabase(target.databaseUrl, async (db) => mintFor(db, target, { ...options, account: await accountOf(db, options) })));
    });
}

/** A new token of the account. Answers its text. */
export async function mintFor(db: Db, target: Target, { account, role, name }: { account: AccountRow; role: Role; name: string }): Promise<string> {
  const change = systemChange(target.environment, account.id);
  const { token } = await transact(db, change, (tx) => createToken(tx, change, { id: newId(), name, role, tokenKey: target.tokenKey }));
  return token;
}

async function accountOf(db: Db, { account: id, env }: Options): Promise<AccountRow> {
  if (id !== undefined) {
    const uuid = parsePublicId('acct', env, id);
    const account = uuid === null ? null : await findAccount(db, uuid);
    if (account === null) throw new CommandFailed(`There is no account ${id} in ${env}.`);
    return account;
  }
  const accounts = await listAccounts(db);
  if (accounts.length === 1) return accounts[0]!;
  const names = accounts.map((account) => `  ${publicId('acct', env, account.id)}  ${account.name}`);
  throw new CommandFailed(accounts.length === 0 ? `There is no account in ${env} yet.` : `Name one with --account:\n${names.join('\n')}`);
}
