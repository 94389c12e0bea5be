import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { roles } from '../../../../libs/domain/role.js';
import { instant, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const network = z.string().max(64).refine(isNetwork, { error: 'Not an address or a network in CIDR form' }).transform(toCidr);
const future = instant.refine((time) => time.getTime() > Date.now(), { error: 'Must lie in the future' });

const fields = {
  name: text(100).min(1),
  role: z.enum(roles),
  expires_at: future.nullable().optional(),
  allowed_networks: z.array(network).min(1).max(50).nullable().optional(),
};

export const createApiTokenBody = z.strictObject(fields);
export type CreateApiTokenBody = z.infer<typeof createApiTokenBody>;

export const updateApiTokenBody = z.strictObject(fields).partial();
export type UpdateApiTokenBody = z.infer<typeof updateApiTokenBody>;

export const rollApiTokenBody = z.strictObject({ overlap_seconds: z.int().min(0).max(7 * 86_400).default(86_400) });
export type RollApiTokenBody = z.infer<typeof rollApiTokenBody>;

export const listApiTokensBody = listBody(['created_at', 'updated_at', 'name'], {});
export type ListApiTokensBody = z.infer<typeof listApiTokensBody>;
export const apiTokensQuery = cursorQuery({});
export type ApiTokensQuery = z.infer<typeof apiTokensQuery>;

const time = z.iso.datetime();

export const apiTokenShape = z.object({
  id: z.string(),
  object: z.literal('api_token'),
  account_id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  hint: z.string().describe('The first characters, to recognise it'),
  expires_at: time.nullable(),
  allowed_networks: z.array(z.string()).nullable(),
  last_used_at: time.nullable().describe('Written at most once a minute'),
  rolled_to_id: z.string().nullable(),
  revoked_at: time.nullable(),
  created_at: time,
  updated_at: time,
  is_deleted: z.boolean(),
}).meta({ id: 'ApiToken' });

export const apiTokenWithSecretShape = apiTokenShape.extend({ token: z.string().describe('Shown once') }).meta({ id: 'ApiTokenWithSecret' });

function isNetwork(value: string): boolean {
  return ipaddr.isValid(value) || ipaddr.isValidCIDR(value);
}

function toCidr(value: string): string {
  return value.includes('/') ? value : `${value}/${ipaddr.parse(value).kind() === 'ipv6' ? 128 : 32}`;
}
