import { randomUUID } from 'node:crypto';
import { atLeast, roles, type Role } from '../../libs/domain/role.js';
import { publicId, idKinds } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { fill, readOperations, type Operation } from '../support/operation.js';

let account: TestAccount;
let production: TestAccount;
let operations: Operation[];
beforeAll(async () => {
  [account, production, operations] = await Promise.all([freshAccount(), freshAccount('production'), readOperations()]);
});

/** Who administers: written down here, so that the code cannot loosen it unseen. */
const adminOnly = [
  'POST /api-tokens', 'GET /api-tokens', 'GET /api-tokens/{token_id}', 'PUT /api-tokens/{token_id}', 'DELETE /api-tokens/{token_id}',
  'POST /api-tokens/{token_id}/roll', 'POST /api-tokens/list',
  'POST /attention/{attention_id}/resolve',
  'POST /charge-stops', 'POST /charge-stops/{charge_stop_id}/lift',
  'POST /payment-processors/{payment_processor_id}/rotate-credentials', 'POST /payment-processors/{payment_processor_id}/disable',
  'POST /payment-processors/{payment_processor_id}/enable', 'POST /payment-processors/{payment_processor_id}/reconcile',
  'POST /payment-processors', 'PUT /payment-processors/{payment_processor_id}', 'DELETE /payment-processors/{payment_processor_id}',
  'POST /payment-routes/{payment_route_id}/publish',
  'POST /webhook-endpoints', 'PUT /webhook-endpoints/{webhook_endpoint_id}', 'DELETE /webhook-endpoints/{webhook_endpoint_id}',
  'GET /webhook-endpoints/{webhook_endpoint_id}/reveal_secret', 'POST /webhook-endpoints/{webhook_endpoint_id}/rotate_secret',
  'POST /webhook-endpoints/{webhook_endpoint_id}/revoke_secret', 'GET /audit-log',
  'POST /webhook-endpoints/{webhook_endpoint_id}/enable', 'POST /webhook-endpoints/{webhook_endpoint_id}/test',
  'POST /webhook-endpoints/{webhook_endpoint_id}/recover', 'POST /webhook-endpoints/{webhook_endpoint_id}/resend-failed',
  'POST /webhook-endpoints/{webhook_endpoint_id}/cancel-pending', 'POST /webhook-jobs/{webhook_job_id}/cancel',
  'POST /webhook-deliveries/{delivery_id}/resend', 'POST /events/trigger-webhook',
];
const open = ['GET /errors', 'GET /errors/{code}', 'GET /healthz', 'GET /readyz', 'GET /payment-link/public/{secure_token}', 'GET /invoices/public/{public_permanent_token}', 'POST /callbacks/{processor_id}'];
/** POSTs that only read. */
const reading = /^POST \/.*\/(list|search|evaluate|rehearse|payment-methods|list_valid_subscriptions)$/;

/** Ids that are well formed and name nothing, so that no call has an effect. */
const nothing = (operation: Operation) => fill(operation, () => publicId(idKinds[0], 'staging', randomUUID().replace(/^(.{14})4/, '$17')));

async function call(operation: Operation, token: string | null) {
  const body = operation.method === 'GET' || operation.method === 'DELETE' ? undefined : { 'no such field': true };
  return account.admin.send(operation.method, nothing(operation), body, { token });
}

describe('each route with each caller', () => {
  it('says what role it needs, as the contract does', () => {
    expect(operations.length).toBeGreaterThan(50);
    const named = (role: Role | null) => operations.filter((operation) => operation.role === role).map((operation) => operation.name);
    const existing = new Set(operations.map((operation) => operation.name));
    expect(named('ADMIN')).toEqual(expect.arrayContaining(adminOnly.filter((name) => existing.has(name))));
    expect(named(null).sort()).toEqual(open.filter((name) => existing.has(name)).sort());
    for (const operation of operations.filter(({ role }) => role === 'READ_ONLY')) {
      expect(operation.name).toMatch(operation.method === 'GET' ? /^GET/ : reading);
    }
  });

  it('answers 401 without a token and to a token of the other environment', async () => {
    for (const operation of operations.filter(({ role }) => role !== null)) {
      const none = await call(operation, null);
      expect([operation.name, none.status, none.body.code]).toEqual([operation.name, 401, 'token_missing']);
      const foreign = await call(operation, production.admin.token);
      expect([operation.name, foreign.status, foreign.body.code]).toEqual([operation.name, 401, 'token_wrong_environment']);
    }
  }, 180_000);

  it('answers 403 to every role below its own and lets the others pass', async () => {
    const tokens: Record<Role, string | null> = { READ_ONLY: account.readOnly.token, OPERATOR: account.operator.token, ADMIN: account.admin.token };
    for (const operation of operations) {
      for (const role of roles) {
        const answer = await call(operation, tokens[role]);
        const allowed = operation.role === null || atLeast(role, operation.role);
        expect([operation.name, role, answer.status === 403]).toEqual([operation.name, role, !allowed]);
        expect([operation.name, role, answer.status === 401]).toEqual([operation.name, role, false]);
        if (!allowed) expect(answer.body.code).toBe('role_too_small');
      }
    }
  }, 180_000);
});
