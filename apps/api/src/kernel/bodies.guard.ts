import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from './validation.pipe.js';

/** A route that takes no body knows no field, so every field is an unknown one: 422. */
@Injectable()
export class BodiesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body === undefined || readsBody(context)) return true;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw invalidRequest([{ loc: ['body'], msg: 'This takes no body', type: 'type_error' }]);
    }
    const unknown = Object.keys(body).map((key) => ({ loc: ['body', key], msg: 'Unknown field', type: 'extra_forbidden' }));
    if (unknown.length > 0) throw invalidRequest(unknown);
    return true;
  }
}

function readsBody(context: ExecutionContext): boolean {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) ?? {}) as Record<string, unknown>;
  const whole = [RouteParamtypes.BODY, RouteParamtypes.REQUEST, RouteParamtypes.RAW_BODY];
  return Object.keys(parameters).some((key) => whole.includes(Number(key.split(':')[0])));
}
