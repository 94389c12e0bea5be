import { listen } from '../../apps/cli/src/listen/listen.js';
import { freshAccount } from '../support/account.js';
import { openReceiver, status } from '../support/receiver.js';
import { eventually, shared } from '../support/stack.js';

describe('signalbox listen', () => {
  it('forwards verified webhooks byte for byte, refuses others, and leaves nothing behind', async () => {
    const account = await freshAccount();
    const target = await openReceiver();
    const lines: string[] = [];
    const forwardTo = new URL(target.url);
    const listening = await listen({ base: shared.stagingUrl, token: account.admin.token!, forwardTo, events: ['webhook_endpoint.test'], print: (line) => lines.push(line) });
    const { body: endpoint } = await account.admin.get(`/webhook-endpoints/${listening.endpointId}`);

    await account.admin.post(`/webhook-endpoints/${listening.endpointId}/test`);
    const got = await eventually(() => target.received[0]);
    expect(got.event).toMatchObject({ type: 'webhook_endpoint.test', data: { id: listening.endpointId } });
    expect(got.headers['webhook-id']).toBe(got.event.id);
    await eventually(() => lines.some((line) => line.includes(got.event.id) && line.endsWith('signatures valid  -> 200')));

    const forged = await fetch(endpoint.url, { method: 'POST', body: got.body, headers: { 'signature-digest': String(got.headers['signature-digest']) } });
    expect(forged.status).toBe(401);
    expect(target.received).toHaveLength(1);

    target.answer = status(500);
    const { body: failing } = await account.admin.post(`/webhook-endpoints/${listening.endpointId}/test`);
    await eventually(async () => (await account.readOnly.get(`/webhook-deliveries/${failing.id}`)).body.last_response_code === 500);

    await listening.close();
    await target.close();
    expect((await account.admin.get(`/webhook-endpoints/${listening.endpointId}`)).status).toBe(404);
  });
});
