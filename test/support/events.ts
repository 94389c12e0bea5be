import type { Client } from './account.js';
import { eventually } from './stack.js';

/** Lists show nothing beyond the oldest transaction that still runs: when an event made now is listed, so is all that was told before. */
export async function untilListed(admin: Client): Promise<void> {
  const { status, body, text } = await admin.post('/customers/', { email: 'marker@example.com' });
  if (status !== 201) throw new Error(text);
  await eventually(async () => (await admin.get(`/events?object_id=${body.id}&limit=1`)).body.data.length === 1);
}
