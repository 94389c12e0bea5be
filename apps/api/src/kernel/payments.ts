import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createPaymentDeps, type PaymentDeps } from '../../../../libs/payments/payment.deps.js';
import { Infrastructure } from './infrastructure.js';

/** What moves money in this process: one for all features, so that they share sockets and leases. */
@Injectable()
export class Payments implements OnApplicationShutdown {
  readonly deps: PaymentDeps;

  constructor({ db, environment, secrets, config, log }: Infrastructure) {
    this.deps = createPaymentDeps({
      db,
      environment,
      secrets,
      simulatorUrl: config.simulatorUrl,
      simulatorSecret: config.simulatorSecret,
      callbacksTo: config,
      local: config.local,
      owner: `api/${process.pid}`,
      lookupOffsets: config.lookupOffsets,
      warn: (message, details) => log.warn(details, message),
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.deps.processors.close();
  }
}
