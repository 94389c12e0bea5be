import type { Environment } from '../domain/environment.js';
import type { Role } from '../domain/role.js';
import { publicId } from './ids.js';

export interface ApiTokenFacts {
  id: string;
  accountId: string;
  name: string;
  role: Role;
  hint: string;
  expiresAt: Date | null;
  revokedAt: Date | null;
  allowedNetworks: string[] | null;
  lastUsedAt: Date | null;
  rolledToId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The object `api_token`, without the token, which is shown once when it is made. */
export function apiTokenView(token: ApiTokenFacts, environment: Environment) {
  return {
    id: publicId('tok', environment, token.id),
    object: 'api_token' as const,
    account_id: publicId('acct', environment, token.accountId),
    name: token.name,
    role: token.role,
    hint: token.hint,
    expires_at: token.expiresAt?.toISOString() ?? null,
    allowed_networks: token.allowedNetworks,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    rolled_to_id: token.rolledToId && publicId('tok', environment, token.rolledToId),
    revoked_at: token.revokedAt?.toISOString() ?? null,
    created_at: token.createdAt.toISOString(),
    updated_at: token.updatedAt.toISOString(),
    is_deleted: token.revokedAt !== null,
  };
}
