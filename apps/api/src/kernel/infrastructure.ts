import type { Registry } from 'prom-client';
import type { Config } from '../../../../libs/config/config.js';
import { connect, type Database, type Db } from '../../../../libs/db/client.js';
import { createSecretBox, type SecretBox } from '../../../../libs/db/secret.js';
import type { Environment } from '../../../../libs/domain/environment.js';
import { createLog, type Logger } from '../../../../libs/telemetry/log.js';
import { createMetrics } from '../../../../libs/telemetry/metrics.js';
import { connectTemporal, type Temporal } from '../../../../libs/temporal/connection.js';

/** What this process is connected to; every service takes what it needs from here. Nothing dials before it is used. */
export class Infrastructure {
  readonly environment: Environment;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly database: Database;
  readonly db: Db;
  readonly temporal: Temporal;
  readonly secrets: SecretBox;

  constructor(readonly config: Config) {
    this.environment = config.environment;
    this.log = createLog({ process: 'api', environment: config.environment, level: config.logLevel });
    this.metrics = createMetrics({ process: 'api', environment: config.environment });
    this.database = connect(config.databaseUrl, {
      max: config.databasePoolSize,
      applicationName: 'signalbox-api',
      onError: (err) => this.log.warn({ err }, 'database connection lost'),
    });
    this.db = this.database.db;
    this.temporal = connectTemporal({ address: config.temporalAddress, namespace: config.temporalNamespace });
    this.secrets = createSecretBox(config.secretKeys);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.temporal.close(), this.database.close()]);
  }
}
