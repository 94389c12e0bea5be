import { freshAccount } from '../support/account.js';
import { buildWorld } from '../support/world.js';
import { fill, readOperations, smallest } from '../support/operation.js';

describe('account', () => {
  it('is shown, and changed by an ADMIN, with an event', async () => {
    const { admin, operator, publicId } = await freshAccount();
    expect((await operator.get('/account')).body).toMatchObject({ id: publicId, object: 'account', operator_refund_limit_atom: null, execution: 'workflow' });
    expect((await operator.put('/account', { name: 'x' })).status).toBe(403);
    expect((await admin.put('/account', { name: 'Shop', operator_refund_limit_atom: 500 })).body).toMatchObject({ name: 'Shop', operator_refund_limit_atom: 500 });
    expect((await admin.put('/account', { default_payment_route_id: 'route_stg_01h455vb4pex5vsknk084sn02q' })).status).toBe(422);
    const { body } = await admin.post('/events/search', { object_id: publicId });
    expect(body.data.map((event: { type: string }) => event.type).sort()).toEqual(['account.created', 'account.updated']);
  });
});

/** Which object of the world a path parameter names. */
const kinds: Record<string, string> = {
  token_id: 'tok', customer_id: 'cus', product_id: 'product', price_id: 'price', payment_method_id: 'pm', payment_processor_id: 'processor',
  payment_route_id: 'route', plink_id: 'plink', payment_intent_id: 'pi', charge_id: 'ch', refund_id: 're', subscription_id: 'sub',
  webhook_endpoint_id: 'webhook_endpoint', event_id: 'event', dispute_id: 'dp', charge_stop_id: 'stop', test_clock_id: 'clock', attention_id: 'att', delivery_id: 'whd', webhook_job_id: 'job', id: 'pf',
};

describe('a second account', () => {
  it('finds nothing of the first one on any route', async () => {
    const first = await freshAccount();
    const second = await freshAccount();
    const world = (await buildWorld(first)) as Record<string, string>;
    const operations = (await readOperations()).filter(({ pathNames, role }) => role !== null && pathNames.some((name) => kinds[name]));
    expect(operations.length).toBeGreaterThan(40);
    for (const operation of operations) {
      const path = fill(operation, (name) => world[kinds[name]!] ?? name);
      const body = operation.method === 'GET' || !operation.body ? undefined : smallest({ type: 'object', ...operation.body });
      const answer = await second.admin.send(operation.method, path, body);
      expect([operation.name, [404, 422].includes(answer.status)]).toEqual([operation.name, true]);
      if (operation.method === 'GET' || !operation.body) expect([operation.name, answer.status]).toEqual([operation.name, 404]);
    }
    const lists = (await readOperations()).filter(({ name }) => /^GET \/[a-z-]+$/.test(name) && !/errors|healthz|readyz|account|api-tokens|events|webhook/.test(name));
    for (const list of lists) expect([list.name, (await second.admin.get(list.path)).body.data]).toEqual([list.name, []]);
    const ids = Object.values(world);
    for (const path of ['/api-tokens', '/events', '/webhook-endpoints', '/webhook-deliveries', '/webhook-attempts', '/webhook-jobs']) {
      const { text } = await second.admin.get(path);
      expect(ids.filter((id) => text.includes(id))).toEqual([]);
    }
  }, 180_000);
});
