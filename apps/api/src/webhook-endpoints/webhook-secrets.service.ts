import { Injectable } from '@nestjs/common';
import { writeAudit } from '../../../../libs/db/audit-entry.writes.js';
import { transact } from '../../../../libs/db/change.js';
import type { Tx } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { findEndpoint, liveSecrets } from '../../../../libs/db/webhook-endpoint.queries.js';
import { mostLiveSecrets, revokeSecret, rotateSecret } from '../../../../libs/db/webhook-secret.writes.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { publicId } from '../../../../libs/views/ids.js';
import { revealedEndpointView } from '../../../../libs/views/webhook-endpoint.view.js';
import { mintSecret } from '../../../../libs/webhooks/secret.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { changeLocked } from './locked-endpoint.js';
import type { RevokeSecretBody, RotateSecretBody } from './webhook-endpoints.dto.js';

/** What is done with signing secrets; each of it is written to the audit log in its own transaction. */
@Injectable()
export class WebhookSecretsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async reveal(caller: Caller, id: string) {
    const endpointId = pathId('webhook_endpoint', id, caller);
    await transact(this.infrastructure.db, caller.change(), async (tx) => {
      if (await findEndpoint(tx, caller.accountId, endpointId)) await this.audit(tx, caller, { action: 'webhook_secret.revealed', endpointId });
    });
    return this.revealed(caller, endpointId);
  }

  async rotate(caller: Caller, id: string, body: RotateSecretBody) {
    const { db, secrets, environment } = this.infrastructure;
    const endpointId = pathId('webhook_endpoint', id, caller);
    await changeLocked(db, caller, endpointId, async (tx, row) => {
      const live = await liveSecrets(tx, endpointId, secrets);
      if (live.some(({ secret }) => secret === body.secret)) throw invalidField('secret', 'This secret signs already', 'secret_refused');
      if (live.length >= mostLiveSecrets && body.expire_after_seconds > 0) throw tooMany(live.length);
      const rotation = { secret: body.secret ?? mintSecret(), expireAfterSeconds: body.expire_after_seconds };
      const secretId = await rotateSecret(tx, caller.change(), row, rotation, secrets);
      const details = { secret_id: publicId('whs', environment, secretId), imported: body.secret !== undefined, expire_after_seconds: body.expire_after_seconds };
      await this.audit(tx, caller, { action: 'webhook_secret.rotated', endpointId, details });
    });
    return this.revealed(caller, endpointId);
  }

  /** Ends one of the older secrets at once. */
  async revoke(caller: Caller, id: string, body: RevokeSecretBody) {
    const { db, secrets } = this.infrastructure;
    const endpointId = pathId('webhook_endpoint', id, caller);
    await changeLocked(db, caller, endpointId, async (tx, row) => {
      const secretId = bodyId('secret_id', 'whs', body.secret_id, caller);
      const live = await liveSecrets(tx, endpointId, secrets);
      const found = live.findIndex((secret) => secret.id === secretId);
      if (found < 0) throw invalidField('secret_id', 'No such live secret of this endpoint', 'unknown_reference');
      if (found === 0) throw new DomainError('conflict', 'The newest secret has no successor yet: rotate it with `expire_after_seconds` 0.');
      await revokeSecret(tx, caller.change(), row, secretId);
      await this.audit(tx, caller, { action: 'webhook_secret.revoked', endpointId, details: { secret_id: body.secret_id } });
    });
    return this.revealed(caller, endpointId);
  }

  private async revealed(caller: Caller, endpointId: string) {
    const { db, secrets, environment } = this.infrastructure;
    return snapshot(db, async (at) => {
      const row = await findEndpoint(at, caller.accountId, endpointId);
      if (!row) throw notFound('webhook endpoint');
      return revealedEndpointView(row, await liveSecrets(at, endpointId, secrets), environment);
    });
  }

  private audit(tx: Tx, caller: Caller, { action, endpointId, details }: { action: string; endpointId: string; details?: Record<string, unknown> }) {
    return writeAudit(tx, caller.change(), { action, kind: 'webhook_endpoint', objectId: endpointId, address: caller.address, details });
  }
}

function tooMany(live: number): DomainError {
  return new DomainError('conflict', `This endpoint has ${live} live secrets: revoke one, wait until one expires, or rotate with \`expire_after_seconds\` 0.`);
}
