import { chargesOf, intentOf, openShop, settled } from '../payments/shop.js';
import { applied, tell, unresolved, type Snapshot } from './provider.js';

const refund = (status: string) => ({ id: 'their-refund', reference: null, amount: 300, status, failure_message: null });
const dispute = (status: string) => ({ id: 'their-dispute', reason: 'fraudulent', amount: 1_000, status });

/** What happened at the provider, one snapshot after each step. */
const story: Snapshot[] = [
  { status: 'pending' },
  { status: 'captured', refunds: [refund('pending')] },
  { status: 'captured', refunds: [refund('succeeded')], disputes: [dispute('open')] },
  { status: 'captured', refunds: [refund('succeeded')], disputes: [dispute('lost')] },
];

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe('all orders of a payment\'s callbacks', () => {
  it('end in one state, each fact told once', async () => {
    const orders = permutations(story);
    expect(orders).toHaveLength(24);
    // Few enough at each connection that its breaker has no opinion of it.
    const shops = await Promise.all([openShop(), openShop(), openShop()]);
    await Promise.all(orders.map(async (order, index) => {
      const shop = shops[index % shops.length]!;
      const { id, reference, answer } = await unresolved(shop);
      for (const snapshot of order) expect((await tell(shop, reference, snapshot)).status).toBe(200);
      await answer;
      await settled(shop, id, 'succeeded');
      await applied(shop, id, story.length);
      expect(await intentOf(shop, id)).toMatchObject({ status: 'succeeded', amount_atom_received: 1_000, amount_atom_refunded: 300 });
      const charges = await chargesOf(shop, id);
      expect(charges).toHaveLength(1);
      expect(charges[0]).toMatchObject({ status: 'succeeded', amount_atom_captured: 1_000, refunded_amount_atom: 300, disputed: true });
      const refunds = (await shop.admin.post('/refunds/list', { payment_intent_id: id })).body.data;
      expect(refunds).toHaveLength(1);
      expect(refunds[0]).toMatchObject({ status: 'succeeded', amount_atom: 300, reason: 'manual_out_of_band', refunded_out_of_band: true });
      const disputes = (await shop.admin.post('/dispute/list', { payment_intent_id: id })).body.data;
      expect(disputes).toHaveLength(1);
      expect(disputes[0]).toMatchObject({ status: 'lost', their_dispute_id: 'their-dispute', amount_atom: 1_000 });
      const created = (await shop.admin.post('/events/search', { object_id: refunds[0].id })).body.data;
      expect(created.filter((event: { type: string }) => event.type === 'refund.created')).toHaveLength(1);
    }));
  }, 180_000);
});
