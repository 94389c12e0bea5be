import { Module, type DynamicModule } from '@nestjs/common';
import { ApiTokensModule } from './api-tokens/api-tokens.module.js';
import { ErrorsModule } from './errors/errors.module.js';
import { HealthModule } from './health/health.module.js';
import type { Infrastructure } from './kernel/infrastructure.js';
import { KernelModule } from './kernel/kernel.module.js';
import { PaymentMethodsModule } from './payment-methods/payment-methods.module.js';
import { PaymentProcessorsModule } from './payment-processors/payment-processors.module.js';

/** Every resource of the interface, one module each. */
const features = [
  ApiTokensModule,
  ErrorsModule,
  HealthModule,
  PaymentMethodsModule,
  PaymentProcessorsModule,
];

@Module({})
export class AppModule {
  static of(infrastructure: Infrastructure): DynamicModule {
    return { module: AppModule, imports: [KernelModule.of(infrastructure), ...features] };
  }
}
