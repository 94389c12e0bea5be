import { Module, type DynamicModule } from '@nestjs/common';
import { ApiTokensModule } from './api-tokens/api-tokens.module.js';
import { ErrorsModule } from './errors/errors.module.js';
import { EventsModule } from './events/events.module.js';
import { HealthModule } from './health/health.module.js';
import type { Infrastructure } from './kernel/infrastructure.js';
import { KernelModule } from './kernel/kernel.module.js';
import { PaymentMethodsModule } from './payment-methods/payment-methods.module.js';
import { PaymentProcessorsModule } from './payment-processors/payment-processors.module.js';
import { WebhookDeliveriesModule } from './webhook-deliveries/webhook-deliveries.module.js';
import { WebhookEndpointsModule } from './webhook-endpoints/webhook-endpoints.module.js';

/** Every resource of the interface, one module each. */
const features = [
  ApiTokensModule,
  ErrorsModule,
  EventsModule,
  HealthModule,
  PaymentMethodsModule,
  PaymentProcessorsModule,
  WebhookDeliveriesModule,
  WebhookEndpointsModule,
];

@Module({})
export class AppModule {
  static of(infrastructure: Infrastructure): DynamicModule {
    return { module: AppModule, imports: [KernelModule.of(infrastructure), ...features] };
  }
}
