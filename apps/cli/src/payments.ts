import { connect } from '../../../libs/db/client.js';
import { createSecretBox } from '../../../libs/db/secret.js';
import { variables } from '../../../libs/config/variables.js';
import { createPaymentDeps, type PaymentDeps } from '../../../libs/payments/payment.deps.js';
import { CommandFailed } from './command-failed.js';
import { installationHome } from './folders.js';
import { readJson } from './stack/file.js';
import type { EnvironmentName, Secrets } from './stack/secret.js';
import { databaseUrlFor } from './target.js';

interface Keys {
  secretKeys: string | undefined;
  simulatorUrl: string | null;
  simulatorSecret: string | null;
  local: boolean;
}

/** What moves money, for a command: from the variables of the processes where they are set (a deployment), else from the local installation. */
export async function withPayments<T>(environment: EnvironmentName, work: (deps: PaymentDeps) => Promise<T>): Promise<T> {
  const { secretKeys, simulatorUrl, simulatorSecret, local } = keysOf(environment);
  const keys = variables.secretKeys.schema.safeParse(secretKeys);
  if (!keys.success) throw new CommandFailed(`${variables.secretKeys.name} ${keys.error.issues[0]?.message ?? 'is invalid'}`);
  const database = connect(databaseUrlFor(environment), { max: 4, applicationName: 'signalbox-cli' });
  const deps = createPaymentDeps({
    db: database.db,
    environment,
    secrets: createSecretBox(keys.data),
    simulatorUrl,
    simulatorSecret: simulatorSecret ? Buffer.from(simulatorSecret, 'base64') : null,
    local,
    owner: `cli:${process.pid}`,
    warn: (message, details) => process.stderr.write(`${message} ${JSON.stringify(details)}\n`),
  });
  try {
    return await work(deps);
  } finally {
    await deps.processors.close();
    await database.close();
  }
}

function keysOf(environment: EnvironmentName): Keys {
  const given = process.env;
  if (given.SIGNALBOX_SECRET_KEYS) {
    const simulatorUrl = environment === 'staging' ? (given.SIMULATOR_URL ?? null) : null;
    return { secretKeys: given.SIGNALBOX_SECRET_KEYS, simulatorUrl, simulatorSecret: given.SIMULATOR_SECRET ?? null, local: given.SIGNALBOX_LOCAL === '1' };
  }
  const home = installationHome();
  const secrets = readJson<Secrets>(home.file('secrets.json'));
  const port = environment === 'staging' ? home.state().ports.simulator : undefined;
  return {
    secretKeys: secrets?.keys[environment].secretKeys,
    simulatorUrl: port === undefined ? null : `http://127.0.0.1:${port}`,
    simulatorSecret: secrets?.simulatorSecret ?? null,
    local: true,
  };
}
