import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';
import { catalogue } from '../../../../libs/errors/catalogue.js';
import { defaultRole, roleExtension } from '../kernel/roles.guard.js';
import { operations } from './docs.operations.js';

const methods = ['get', 'post', 'put', 'delete', 'patch'] as const;
type Method = (typeof methods)[number];
type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type SchemaObject = Exclude<NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string], { $ref: string }>;

const description = `Payment orchestration: customers, payment methods, routes, payments, subscriptions, events and webhooks.

Two environments, each with its own base URL and tokens: \`st_prod_…\` and \`st_stg_…\`. Amounts are integers in the currency's
smallest unit; times are RFC 3339 UTC. Errors are \`application/problem+json\`; the \`type\` of each is a page of this service.
A trailing slash makes no difference. Send \`Idempotency-Key\` with POST, PUT and DELETE to make retries safe. Unknown fields
are refused with 422. \`${roleExtension}\` on an operation names the smallest role that may call it.`;

/** The OpenAPI 3.0 document of the running application; needs no connection. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder().setTitle('Signalbox').setVersion('1').setDescription(description).addBearerAuth({ type: 'http', scheme: 'bearer' }, 'token').addSecurityRequirements('token');
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
    standardSchemaConverter: convertZod,
  });
  document.components ??= {};
  document.components.schemas = { ...sorted(document.components.schemas ?? {}), Problem: problemSchema() };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of methods) {
      const operation = item[method];
      if (operation) complete(operation, method, path);
    }
  }
  document.paths = sorted(document.paths);
  return JSON.parse(JSON.stringify(document)) as OpenAPIObject;
}

function complete(operation: OperationObject, method: Method, path: string): void {
  const isPublic = operation.security?.some((scheme) => Object.keys(scheme).length === 0) ?? false;
  const extended = operation as OperationObject & Record<string, unknown>;
  if (isPublic) operation.security = [];
  else {
    operation.security = [{ token: [] }];
    extended[roleExtension] ??= defaultRole(method.toUpperCase(), path);
  }
  if (method !== 'get' && !isPublic) {
    operation.parameters = [...(operation.parameters ?? []), {
      name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', minLength: 1, maxLength: 255 },
      description: 'Makes retries safe: the same key and parameters take effect once and answer the same.',
    }];
  }
  describe(operation);
  operation.responses['default'] = { description: 'A problem', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
}

function describe(operation: OperationObject): void {
  const { summary, text, codes } = operations[operation.operationId!] ?? {};
  const refusals = codes ? `Refuses with ${codes.map((code) => `\`${code}\``).join(', ')}.` : undefined;
  const description = [text, refusals].filter((part) => part !== undefined).join('\n\n');
  Object.assign(operation, { summary: summary ?? operation.summary, ...(description ? { description } : {}) });
}

/** zod's own conversion; a schema with an id becomes a component, and limits that every number has are left out. */
function convertZod(schema: unknown, { schemaType }: { schemaType: 'input' | 'output' }) {
  if (!(schema instanceof z.ZodType)) return undefined;
  const converted = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: schemaType,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => tidy(jsonSchema as Record<string, unknown>),
  }) as Record<string, unknown>;
  const { $defs, $schema, ...own } = converted;
  const components = { ...($defs as Record<string, unknown> | undefined) };
  const id = z.globalRegistry.get(schema)?.id;
  if (id === undefined) return { schema: own, components };
  return { schema: { $ref: `#/components/schemas/${id}` }, components: { ...components, [id]: own } };
}

function tidy(schema: Record<string, unknown>): void {
  if (schema['format'] === 'date-time') delete schema['pattern'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  delete schema['id'];
}

function problemSchema(): SchemaObject {
  const text: SchemaObject = { type: 'string' };
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'A page of this service that explains the code.' },
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: { type: 'string', enum: Object.keys(catalogue) },
      request_id: text,
      errors: {
        type: 'array',
        description: 'For 422: one entry per offending field.',
        items: {
          type: 'object',
          required: ['loc', 'msg', 'type'],
          properties: { loc: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'integer' }] } }, msg: text, type: text },
        },
      },
    },
  };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
