import type { LoggerService } from '@nestjs/common';
import type { Logger } from '../../../../libs/telemetry/log.js';

/** Nest's own lines, in our format; its start-up chatter only at debug. */
export class NestLog implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown): void {
    this.logger.debug(String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error({ reason: rest.filter((part) => typeof part === 'string').join(' '), err: message instanceof Error ? message : undefined }, String(message));
  }

  warn(message: unknown): void {
    this.logger.warn(String(message));
  }

  debug(message: unknown): void {
    this.logger.debug(String(message));
  }

  verbose(message: unknown): void {
    this.logger.trace(String(message));
  }
}
