import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { BodiesGuard } from './bodies.guard.js';
import { CallersService } from './callers.service.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { Infrastructure } from './infrastructure.js';
import { Payments } from './payments.js';
import { RolesGuard } from './roles.guard.js';
import { ValidationPipe } from './validation.pipe.js';

@Global()
@Module({})
export class KernelModule {
  static of(infrastructure: Infrastructure): DynamicModule {
    return {
      module: KernelModule,
      providers: [
        { provide: Infrastructure, useValue: infrastructure },
        CallersService,
        Payments,
        { provide: APP_GUARD, useClass: RolesGuard },
        { provide: APP_GUARD, useClass: BodiesGuard },
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
        { provide: APP_PIPE, useClass: ValidationPipe },
      ],
      exports: [Infrastructure, CallersService, Payments],
    };
  }
}
