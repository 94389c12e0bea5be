import { Module, type DynamicModule } from '@nestjs/common';
import { AccountsModule } from './accounts/accounts.module.js';
import { ApiTokensModule } from './api-tokens/api-tokens.module.js';
import { AttentionModule } from './attention/attention.module.js';
import { AuditLogModule } from './audit-log/audit-log.module.js';
import { ChargeStopsModule } from './charge-stops/charge-stops.module.js';
import { CallbacksModule } from './callbacks/callbacks.module.js';
import { ChargesModule } from './charges/charges.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { DisputesModule } from './disputes/disputes.module.js';
import { EmailsModule } from './emails/emails.module.js';
import { ErrorsModule } from './errors/errors.module.js';
import { EventsModule } from './events/events.module.js';
import { HealthModule } from './health/health.module.js';
import { InvoiceItemsModule } from './invoice-items/invoice-items.module.js';
import { InvoicesModule } from './invoices/invoices.module.js';
import type { Infrastructure } from './kernel/infrastructure.js';
import { KernelModule } from './kernel/kernel.module.js';
import { PayModule } from './pay/pay.module.js';
import { PaymentIntentsModule } from './payment-intents/payment-intents.module.js';
import { PaymentLinksModule } from './payment-links/payment-links.module.js';
import { PaymentMethodsModule } from './payment-methods/payment-methods.module.js';
import { PaymentProcessorsModule } from './payment-processors/payment-processors.module.js';
import { PaymentRoutesModule } from './payment-routes/payment-routes.module.js';
import { PricesModule } from './prices/prices.module.js';
import { ProductFamilyModule } from './product-family/product-family.module.js';
import { ProductsModule } from './products/products.module.js';
import { ReconciliationsModule } from './reconciliations/reconciliations.module.js';
import { RefundsModule } from './refunds/refunds.module.js';
import { SubscriptionItemsModule } from './subscription-items/subscription-items.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { TestClocksModule } from './test-clocks/test-clocks.module.js';
import { WebhookDeliveriesModule } from './webhook-deliveries/webhook-deliveries.module.js';
import { WebhookEndpointsModule } from './webhook-endpoints/webhook-endpoints.module.js';
import { WebhookJobsModule } from './webhook-jobs/webhook-jobs.module.js';

/** Every resource of the interface, one module each. */
const features = [
  AccountsModule,
  ApiTokensModule,
  AttentionModule,
  AuditLogModule,
  ChargeStopsModule,
  CallbacksModule,
  ChargesModule,
  CustomersModule,
  DisputesModule,
  EmailsModule,
  ErrorsModule,
  EventsModule,
  HealthModule,
  InvoiceItemsModule,
  InvoicesModule,
  PayModule,
  PaymentIntentsModule,
  PaymentLinksModule,
  PaymentMethodsModule,
  PaymentProcessorsModule,
  PaymentRoutesModule,
  PricesModule,
  ProductFamilyModule,
  ProductsModule,
  ReconciliationsModule,
  RefundsModule,
  SubscriptionsModule,
  TestClocksModule,
  SubscriptionItemsModule,
  WebhookDeliveriesModule,
  WebhookEndpointsModule,
  WebhookJobsModule,
];

@Module({})
export class AppModule {
  static of(infrastructure: Infrastructure): DynamicModule {
    return { module: AppModule, imports: [KernelModule.of(infrastructure), ...features] };
  }
}
