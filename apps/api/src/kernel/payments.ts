import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { createPaymentDeps, type PaymentDeps } from '../../../../libs/payments/payment.deps.js';
import { breakerGauge } from '../../../../libs/payments/breakers.js';
import { gauge } from '../../../../libs/telemetry/metrics.js';
import { Infrastructure } from './infrastructure.js';

/** What moves money in this process: one for all features, so that they share sockets and leases. */
@Injectable()
export class Payments implements BeforeApplicationShutdown, OnApplicationShutdown {
  readonly deps: PaymentDeps;
  private readonly running = new Set<Promise<unknown>>();
  private readonly graceMs: number;

  constructor({ db, environment, secrets, config, log, metrics }: Infrastructure) {
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
      breaker: config.breaker,
      warn: (message, details) => log.warn(details, message),
    });
    gauge(metrics, breakerGauge(this.deps.breakers));
    this.graceMs = config.shutdownGraceSeconds * 1000;
  }

  /** What goes on when its caller has been answered: a stopping process waits for it. */
  track(work: Promise<unknown>): void {
    const ended = work.catch(() => undefined).finally(() => this.running.delete(ended));
    this.running.add(ended);
  }

  /** The outcome, or null when it takes longer; the work goes on. */
  async within<T>(work: Promise<T>, ms: number): Promise<T | null> {
    this.track(work);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A step that does not end in time is found by the sweeper. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([Promise.all(this.running), wait(this.graceMs, undefined, { ref: false })]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.deps.processors.close();
  }
}
