import { Option } from 'commander';
import { connect, type Db } from '../../../libs/db/client.js';
import { databaseUrlOf } from '../../../libs/config/config.js';
import { variables } from '../../../libs/config/variables.js';
import { CommandFailed } from './command-failed.js';
import { installationHome } from './folders.js';
import { readJson } from './stack/file.js';
import { databaseUrl } from './stack/postgres.js';
import { environmentNames, type EnvironmentName, type Secrets } from './stack/secret.js';

/** The environment's database and keys that a command works on. */
export interface Target {
  environment: EnvironmentName;
  databaseUrl: string;
  tokenKey: Buffer;
}

export function environmentOption(description = 'environment'): Option {
  return new Option('--env <environment>', description).choices(environmentNames);
}

/** From `DATABASE_URL` and `SIGNALBOX_TOKEN_KEY` where they are set (a deployment), else from the local installation's folder. */
export function targetOf(environment: EnvironmentName): Target {
  const key = process.env.SIGNALBOX_TOKEN_KEY || localSecrets().keys[environment].tokenKey;
  const tokenKey = variables.tokenKey.schema.safeParse(key);
  if (!tokenKey.success) throw new CommandFailed(`${variables.tokenKey.name} ${tokenKey.error.issues[0]?.message ?? 'is invalid'}`);
  return { environment, databaseUrl: databaseUrlFor(environment), tokenKey: tokenKey.data };
}

export function databaseUrlFor(environment: EnvironmentName): string {
  if (process.env.DATABASE_URL) return databaseUrlOf(process.env.DATABASE_URL, environment);
  const port = installationHome().state().ports.postgres;
  if (port === undefined) throw notHere();
  return databaseUrlOf(databaseUrl({ port, password: localSecrets().postgresPassword }, 'signalbox'), environment);
}

function localSecrets(): Secrets {
  const secrets = readJson<Secrets>(installationHome().file('secrets.json'));
  if (secrets === null) throw notHere();
  return secrets;
}

function notHere(): CommandFailed {
  return new CommandFailed(`There is no installation in ${installationHome().path}. Start one with \`npm start\`, or set SIGNALBOX_HOME or DATABASE_URL.`);
}

/** Runs the work on the target's database and closes the connection. */
export async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const database = connect(url, { max: 2, applicationName: 'signalbox-cli' });
  try {
    return await work(database.db);
  } catch (error) {
    if (isRefused(error)) throw new CommandFailed(`Postgres does not answer at ${new URL(url).host}: does it run?`);
    throw error;
  } finally {
    await database.close();
  }
}

function isRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ECONNREFUSED') return true;
  }
  return false;
}
