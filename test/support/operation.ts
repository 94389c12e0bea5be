import type { Role } from '../../libs/domain/role.js';
import { shared } from './stack.js';

/** A part of a JSON Schema as the OpenAPI document carries it. */
export interface Schema {
  type?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  format?: string;
  minimum?: number;
  minLength?: number;
  nullable?: boolean;
}

export interface Operation {
  /** `GET /customers/{customer_id}` */
  name: string;
  method: string;
  path: string;
  /** Smallest role, null for a public one. */
  role: Role | null;
  pathNames: string[];
  query: { name: string; schema: Schema }[];
  body: Schema | null;
}

interface Document {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
}

interface RawOperation {
  'x-minimum-role'?: Role;
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** Every operation of the running service, by its own description. */
export async function readOperations(url = shared.stagingUrl): Promise<Operation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      role: raw['x-minimum-role'] ?? null,
      pathNames: (raw.parameters ?? []).filter((parameter) => parameter.in === 'path').map(({ name }) => name),
      query: (raw.parameters ?? []).filter((parameter) => parameter.in === 'query'),
      body: raw.requestBody ? resolve(raw.requestBody.content['application/json']?.schema ?? {}, document) : null,
    })));
}

function resolve(schema: Schema, document: Document): Schema {
  return schema.$ref ? document.components.schemas[schema.$ref.split('/').pop()!]! : schema;
}

/** A path with its parameters filled in. */
export function fill(operation: Operation, value: (name: string) => string): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => value(name));
}

/** The smallest body that the schema describes; references in it name nothing. */
export function smallest(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema.allOf?.[0];
  if (choice) return smallest(choice);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((key) => [key, smallest(schema.properties?.[key] ?? {})]));
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    default:
      if (schema.format === 'date-time') return '2030-01-01T00:00:00Z';
      if (schema.format === 'email') return 'a@example.com';
      if (schema.format === 'uri') return 'https://example.com/';
      return 'x'.repeat(Math.max(schema.minLength ?? 1, 1));
  }
}
