import type { Environment } from '../domain/environment.js';

/** What moving money needs. Composed once per process, in apps/worker and apps/api. */
export interface PaymentDeps {
  environment: Environment;
}
