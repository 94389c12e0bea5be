import type { Answer, TestAccount } from './account.js';
import { eventually } from './stack.js';

/** One object of each kind, by the kind of its id, made by the interface itself in a journey that ends with a paid payment. */
export type World = Record<
  'cus' | 'product' | 'price' | 'monthly' | 'pf' | 'processor' | 'pm' | 'route' | 'plink' | 'pi' | 'ch' | 're' | 'dp' | 'webhook_endpoint' | 'event' | 'whd' | 'tok' | 'sub' | 'stop' | 'att' | 'clock' | 'job',
  string
>;

function made(answer: Answer): Answer['body'] {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

/** @param receiver where the webhook endpoint points; nothing has to listen there. */
export async function buildWorld({ admin }: TestAccount, receiver = 'http://127.0.0.1:9/hook'): Promise<World> {
  const endpoint = made(await admin.post('/webhook-endpoints/', { url: receiver })).id;
  const tok = made(await admin.post('/api-tokens/', { name: 'world', role: 'READ_ONLY' })).id;
  const processor = made(await admin.post('/payment-processors/', { name: 'first', kind: 'simulator' })).id;
  const cus = made(await admin.post('/customers/', { email: 'world@example.com' })).id;
  const route = made(await admin.post('/payment-routes/', {
    name: 'all',
    route_configuration: { rules: [], default: { strategy: 'priority', processors: [processor] } },
  })).id;
  const product = made(await admin.post('/products/', { name: 'World', description: 'All of it' })).id;
  const terms = { product_id: product, pricing_model: 'standard', is_active: true, currency: 'usd', unit_amount_atom: 1500 };
  const price = made(await admin.post('/prices/', { ...terms, price_type: 'one_time' })).id;
  const monthly = made(await admin.post('/prices/', { ...terms, price_type: 'recurring', billing_interval: 'month' })).id;
  const pf = made(await admin.post('/product-family/', { name: 'Worlds', products: [product] })).id;
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2034, cvc: '123' };
  const pm = made(await admin.post('/payment-methods/', { card })).id;
  made(await admin.post(`/payment-methods/${pm}/attach`, { customer_id: cus }));
  made(await admin.put(`/customers/${cus}`, { default_payment_method_id: pm }));
  const plink = made(await admin.post('/payment-link/', { mode: 'payment', success_url: 'https://example.com/thanks', line_items: [{ price_id: price, quantity: 2 }] })).id;
  const intent = made(await admin.post('/payment-intents/', { amount_atom: 1500, currency: 'usd', customer_id: cus, payment_method_id: pm, confirm: true }));
  const paid = await eventually(async () => {
    const { body } = await admin.get(`/payment-intents/${intent.id}`);
    return body.status === 'succeeded' ? body : null;
  });
  const ch = paid.charge_ids[0];
  const re = made(await admin.post('/refunds/', { charge_id: ch, amount_atom: 500 })).id;
  const dp = (await admin.post('/dispute/', { payment_intent_id: intent.id, reason: 'fraudulent' })).body.id;
  const subscribed = made(await admin.post('/subscriptions/', { customer_id: cus, selected_product_price_quantity: [{ price_id: monthly, quantity: 1 }] }));
  const stop = made(await admin.post('/charge-stops/', { scope: 'price', object_id: price, reason: 'for a moment' })).id;
  const att = made(await admin.get('/attention?type=charge_stop')).data[0].id;
  made(await admin.post(`/charge-stops/${stop}/lift`));
  const clock = made(await admin.post('/test-clocks/', { frozen_time: '2030-01-01T00:00:00Z' })).id;
  const event = made(await admin.post('/events/list', { page_size: 1 })).data[0].id;
  const whd = await eventually(async () => made(await admin.get('/webhook-deliveries?limit=1')).data[0]?.id as string | undefined);
  const job = made(await admin.post(`/webhook-endpoints/${endpoint}/resend-failed`)).id;
  return { cus, product, price, monthly, pf, processor, pm, route, plink, pi: intent.id, ch, re, dp, webhook_endpoint: endpoint, event, whd, tok, sub: subscribed.created[0].id, stop, att, clock, job };
}
