import { applyDecorators, Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { atLeast, type Role } from '../../../../libs/domain/role.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { callerOf } from './callers.js';

const minimumRole = 'signalbox:minimum-role';

/** Name of the OpenAPI extension that carries an operation's minimum role. */
export const roleExtension = 'x-minimum-role';

/** Smallest role that may call. Without it: READ_ONLY for GET and for POST …/list and …/search, OPERATOR for the rest. */
export function Roles(minimum: Role): MethodDecorator {
  return applyDecorators(SetMetadata(minimumRole, minimum), ApiExtension(roleExtension, minimum)) as MethodDecorator;
}

/** Answers without a token. Methods only. */
export function Public(): MethodDecorator {
  return applyDecorators(RouteConfig({ public: true }), ApiSecurity({})) as MethodDecorator;
}

export function defaultRole(method: string, path: string): Role {
  if (method === 'GET' || method === 'HEAD') return 'READ_ONLY';
  return method === 'POST' && /\/(list|search)\/?$/.test(path) ? 'READ_ONLY' : 'OPERATOR';
}

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.routeOptions.config.public) return true;
    const caller = callerOf(request);
    const named = this.reflector.getAllAndOverride<Role | undefined>(minimumRole, [context.getHandler(), context.getClass()]);
    const minimum = named ?? defaultRole(request.method, request.routeOptions.url ?? '');
    if (atLeast(caller.role, minimum)) return true;
    throw new DomainError('role_too_small', `This needs the role ${minimum}; the token has ${caller.role}.`);
  }
}
