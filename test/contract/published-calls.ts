import type { Answer, TestAccount } from '../support/account.js';
import type { World } from '../support/world.js';

export type Call = () => Promise<[path: string, body?: unknown]>;

const card = { number: '4242424242424242', exp_month: 12, exp_year: 2034, cvc: '123' };
const productBody = { name: 'p', description: 'd' };

/** What the calls make on their way. */
export function publishedObjects(account: TestAccount, world: World) {
  const { admin } = account;
  const routeBody = () => ({ name: 'r', route_configuration: { rules: [], default: { strategy: 'priority', processors: [world.processor] } } });
  const priceBody = () => ({ product_id: world.product, price_type: 'one_time', pricing_model: 'standard', is_active: true, currency: 'usd', unit_amount_atom: 5 });
  const subscriptionBody = (more: object = {}) => ({ customer_id: world.cus, payment_route_id: world.route, selected_product_price_quantity: [{ price_id: world.monthly, quantity: 1 }], ...more });
  const invoiceBody = () => ({ customer_id: world.cus, collection_method: 'send_invoice', selected_product_price_quantity: [{ price_id: world.price, quantity: 1 }] });

  const fresh = async (path: string, body: unknown): Promise<string> => {
    const answer = await admin.post(path, body);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body.id ?? answer.body.created[0].id;
  };
  const subscription = (more: object = {}) => fresh('/subscriptions/', subscriptionBody(more));
  const paused = async () => {
    const id = await subscription();
    await admin.put(`/subscriptions/${id}/pause`);
    return id;
  };
  const firstItem = async (id: string): Promise<string> => (await admin.get(`/subscriptions/${id}`)).body.subscription_items[0].id;
  const addedItem = async () => fresh('/subscription-items/', { subscription_id: await subscription(), price_id: world.monthly });
  const byHand = () => fresh('/invoices/', invoiceBody());
  const firstInvoice = async (): Promise<string> => (await admin.post('/invoices/list', {})).body.data[0].id;
  /** A declined first payment leaves its invoice open. */
  const openInvoice = async (): Promise<string> => {
    const cus = await fresh('/customers/', { email: 'd@example.com' });
    const pm = await fresh('/payment-methods/', { card: { ...card, number: '4000000000000341' } });
    await admin.post(`/payment-methods/${pm}/attach`, { customer_id: cus });
    return (await admin.post('/subscriptions/', subscriptionBody({ customer_id: cus, payment_method_id: pm }))).body.invoices[0].id;
  };
  return { admin, world, routeBody, priceBody, subscriptionBody, invoiceBody, fresh, subscription, paused, firstItem, addedItem, byHand, firstInvoice, openInvoice };
}

export type PublishedObjects = ReturnType<typeof publishedObjects>;

function publicPath({ hosted_invoice_url: url }: Answer['body']): string {
  return `/invoices/public/${url.split('/').at(-1)}`;
}

/** How each published operation is called, by its published name. */
export function publishedCalls(objects: PublishedObjects): Record<string, Call> {
  const { admin, world, routeBody, priceBody, subscriptionBody, invoiceBody, fresh, subscription, paused, firstItem, addedItem, byHand, firstInvoice, openInvoice } = objects;
  return {
    'POST /charges/list': async () => ['/charges/list', {}],
    'GET /charges/{charge_id}': async () => [`/charges/${world.ch}`],
    'PUT /charges/{charge_id}': async () => [`/charges/${world.ch}`, { custom_fields: { a: 1 } }],
    'POST /customers': async () => ['/customers/', { email: 'c@example.com' }],
    'POST /customers/list': async () => ['/customers/list', {}],
    'PUT /customers/{customer_external_id}': async () => [`/customers/${world.cus}`, { notes: 'n' }],
    'GET /customers/{customer_id}': async () => [`/customers/${world.cus}?expand=discount`],
    'POST /customers/{customer_id}/payment-methods': async () => [`/customers/${world.cus}/payment-methods`, {}],
    'POST /customers/{customer_id}/list_valid_subscriptions': async () => [`/customers/${world.cus}/list_valid_subscriptions`, {}],
    'GET /customers/{customer_id}/balance-transactions': async () => {
      await admin.post(`/customers/${world.cus}/balance-transactions`, { amount_atom: 100 });
      return [`/customers/${world.cus}/balance-transactions`];
    },
    'POST /customers/{customer_id}/balance-transactions': async () => [`/customers/${world.cus}/balance-transactions`, { amount_atom: 100 }],
    'GET /customers/{customer_id}/balance-transactions/{transaction_id}': async () => [
      `/customers/${world.cus}/balance-transactions/${await fresh(`/customers/${world.cus}/balance-transactions`, { amount_atom: 100 })}`,
    ],
    'POST /dispute': async () => ['/dispute/', { payment_intent_id: world.pi, reason: 'fraudulent', their_dispute_id: 'theirs' }],
    'GET /dispute/{dispute_id}': async () => [`/dispute/${world.dp}`],
    'POST /events/list': async () => ['/events/list', {}],
    'POST /events/search': async () => ['/events/search', { object_id: world.cus }],
    'POST /events/trigger-webhook': async () => ['/events/trigger-webhook', { event_id: world.event }],
    'GET /events/{event_id}': async () => [`/events/${world.event}`],
    'POST /invoices/list': async () => ['/invoices/list', {}],
    'POST /invoice-items/list': async () => ['/invoice-items/list', {}],
    'GET /invoices/{invoice_external_id}': async () => [`/invoices/${await firstInvoice()}`],
    'GET /invoices/preview_next_invoice/{subscription_id}': async () => [`/invoices/preview_next_invoice/${world.sub}`],
    'POST /invoices/{invoice_external_id}/pay': async () => [`/invoices/${await openInvoice()}/pay`, { paid_out_of_band: true }],
    'POST /invoices/{invoice_external_id}/void': async () => [`/invoices/${await openInvoice()}/void`, {}],
    'POST /invoices/{invoice_external_id}/mark_uncollectible': async () => [`/invoices/${await openInvoice()}/mark_uncollectible`, {}],
    'POST /invoices': async () => ['/invoices/', invoiceBody()],
    'PUT /invoices/{invoice_id}': async () => [`/invoices/${await byHand()}`, { description: 'd' }],
    'POST /invoices/{invoice_external_id}/finalize': async () => [`/invoices/${await byHand()}/finalize`],
    'POST /invoices/{invoice_external_id}/comment': async () => [`/invoices/${await byHand()}/comment`, { comment: 'c' }],
    'GET /invoices/public/{public_permanent_token}': async () => {
      const { body } = await admin.post(`/invoices/${await byHand()}/finalize`);
      return [publicPath(body)];
    },
    'DELETE /invoice-items/{invoice_item_id}': async () => [`/invoice-items/${await fresh('/invoice-items/', { customer_id: world.cus, price_id: world.price })}`],
    'GET /invoice-items/{invoice_item_id}': async () => [`/invoice-items/${(await admin.post('/invoice-items/list', {})).body.data[0].id}`],
    'POST /subscription-items': async () => ['/subscription-items/', { subscription_id: await subscription(), price_id: world.monthly }],
    'PUT /subscription-items/{subscription_item_id}': async () => [`/subscription-items/${await firstItem(await subscription())}`, { quantity: 2 }],
    'DELETE /subscription-items/{subscription_item_id}': async () => [`/subscription-items/${await addedItem()}`, { drop_at_end: false }],
    'GET /subscription-items/{subscription_item_id}': async () => [`/subscription-items/${await firstItem(world.sub)}`],
    'POST /payment-intents/list': async () => ['/payment-intents/list', {}],
    'GET /payment-intents/{payment_intent_id}': async () => [`/payment-intents/${world.pi}`],
    'PUT /payment-intents/{payment_intent_id}': async () => [`/payment-intents/${world.pi}`, { custom_fields: { a: 1 } }],
    'POST /payment-link': async () => ['/payment-link/', { mode: 'payment', success_url: 'https://example.com', line_items: [{ price_id: world.price, quantity: 1 }] }],
    'POST /payment-link/list': async () => ['/payment-link/list', {}],
    'GET /payment-link/{plink_id}': async () => [`/payment-link/${world.plink}`],
    'GET /payment-link/public/{secure_token}': async () => [`/payment-link/public/${(await admin.get(`/payment-link/${world.plink}`)).body.secure_token}`],
    'POST /payment-methods/authorize': async () => ['/payment-methods/authorize', { payment_method_id: world.pm }],
    'GET /payment-methods/{payment_method_id}': async () => [`/payment-methods/${world.pm}`],
    'POST /payment-methods/{payment_method_id}/attach': async () => [`/payment-methods/${await fresh('/payment-methods/', { card })}/attach`, { customer_id: world.cus }],
    'POST /payment-methods/{payment_method_id}/detach': async () => [`/payment-methods/${await fresh('/payment-methods/', { card })}/detach`],
    'POST /payment-routes': async () => ['/payment-routes/', routeBody()],
    'POST /payment-routes/list': async () => ['/payment-routes/list', {}],
    'GET /payment-routes/{payment_route_id}': async () => [`/payment-routes/${world.route}`],
    'PUT /payment-routes/{payment_route_id}': async () => [`/payment-routes/${world.route}`, routeBody()],
    'DELETE /payment-routes/{payment_route_id}': async () => [`/payment-routes/${await fresh('/payment-routes/', routeBody())}`],
    'POST /prices': async () => ['/prices/', priceBody()],
    'GET /prices/find-by-amount/{amount}': async () => ['/prices/find-by-amount/1500'],
    'POST /prices/list': async () => ['/prices/list', {}],
    'DELETE /prices/{price_id}': async () => [`/prices/${await fresh('/prices/', priceBody())}`],
    'GET /prices/{price_id}': async () => [`/prices/${world.monthly}`],
    'PUT /prices/{price_id}': async () => [`/prices/${world.price}`, { name: 'n' }],
    'GET /prices/{price_id}/add-ons': async () => {
      await fresh('/prices/', { ...priceBody(), can_only_be_purchased_with: [world.price] });
      return [`/prices/${world.price}/add-ons`];
    },
    'POST /product-family': async () => ['/product-family/', { name: 'f', products: [] }],
    'POST /product-family/list': async () => ['/product-family/list', {}],
    'DELETE /product-family/{id}': async () => [`/product-family/${await fresh('/product-family/', { name: 'f', products: [] })}`],
    'GET /product-family/{id}': async () => [`/product-family/${world.pf}`],
    'PUT /product-family/{id}': async () => [`/product-family/${world.pf}`, { name: 'n', products: [] }],
    'POST /products': async () => ['/products/', productBody],
    'POST /products/list': async () => ['/products/list', {}],
    'DELETE /products/{product_id}': async () => [`/products/${await fresh('/products/', productBody)}`],
    'GET /products/{product_id}': async () => [`/products/${world.product}`],
    'PUT /products/{product_id}': async () => [`/products/${world.product}`, { name: 'n' }],
    'POST /refunds': async () => ['/refunds/', { charge_id: world.ch, amount_atom: 7 }],
    'POST /refunds/list': async () => ['/refunds/list', {}],
    'POST /subscription-items/list': async () => ['/subscription-items/list', { subscription_id: world.sub }],
    'POST /subscriptions': async () => ['/subscriptions/', subscriptionBody()],
    'POST /subscriptions/list': async () => ['/subscriptions/list', {}],
    'GET /subscriptions/{subscription_id}': async () => [`/subscriptions/${world.sub}`],
    'PUT /subscriptions/{subscription_id}': async () => [`/subscriptions/${world.sub}`, { description: 'd' }],
    'PUT /subscriptions/{subscription_id}/pause': async () => [`/subscriptions/${await subscription()}/pause`, {}],
    'PUT /subscriptions/{subscription_id}/resume': async () => [`/subscriptions/${await paused()}/resume`, {}],
    'DELETE /subscriptions/{subscription_id}': async () => [`/subscriptions/${await subscription()}`],
    'DELETE /subscriptions/{subscription_id}/discount': async () => [`/subscriptions/${world.sub}/discount`],
    'POST /subscriptions/{subscription_id}/refresh-status': async () => [`/subscriptions/${world.sub}/refresh-status`],
    'POST /subscriptions/{subscription_id}/cancel-subscription-trial': async () => [
      `/subscriptions/${await subscription({ trial_period_days: 5 })}/cancel-subscription-trial`,
    ],
  };
}

/** The same operations in another form or state: `<published name> · <what differs>`. */
export function furtherCalls(objects: PublishedObjects): Record<string, Call> {
  const { admin, world, subscriptionBody, invoiceBody, subscription, paused, firstItem, addedItem, fresh, byHand, firstInvoice } = objects;
  const preview = { is_preview: true };
  const soon = () => new Date(Date.now() + 86_400_000).toISOString();
  return {
    'POST /invoices · preview': async () => ['/invoices/', { ...invoiceBody(), ...preview }],
    'POST /subscription-items · preview': async () => ['/subscription-items/', { subscription_id: world.sub, price_id: world.monthly, ...preview }],
    'PUT /subscription-items/{subscription_item_id} · preview': async () => [
      `/subscription-items/${await firstItem(world.sub)}`, { quantity: 3, proration_behavior: 'always_invoice', ...preview },
    ],
    'DELETE /subscription-items/{subscription_item_id} · preview': async () => [`/subscription-items/${await addedItem()}`, { drop_at_end: false, ...preview }],
    'DELETE /subscription-items/{subscription_item_id} · by query': async () => [`/subscription-items/${await addedItem()}?drop_at_end=false&proration_behavior=none&is_preview=true`],
    'POST /subscriptions · preview': async () => ['/subscriptions/', subscriptionBody(preview)],
    'POST /subscriptions · preview of a trial': async () => ['/subscriptions/', subscriptionBody({ trial_period_days: 5, ...preview })],
    'PUT /subscriptions/{subscription_id} · preview': async () => [
      `/subscriptions/${world.sub}`,
      { items: [{ id: await firstItem(world.sub), quantity: 5 }], proration_behavior: 'always_invoice', preview_renewal_invoices: true, ...preview },
    ],
    'PUT /subscriptions/{subscription_id} · items': async () => {
      const id = await subscription();
      return [`/subscriptions/${id}`, { items: [{ id: await firstItem(id), quantity: 5 }], proration_behavior: 'always_invoice', preview_renewal_invoices: true }];
    },
    'PUT /subscriptions/{subscription_id}/pause · preview': async () => [`/subscriptions/${world.sub}/pause`, preview],
    'PUT /subscriptions/{subscription_id}/pause · for cycles': async () => [`/subscriptions/${await subscription()}/pause`, { number_of_billing_cycles_to_skip: 2 }],
    'PUT /subscriptions/{subscription_id}/resume · preview': async () => [`/subscriptions/${await paused()}/resume`, preview],
    'DELETE /subscriptions/{subscription_id} · preview': async () => [`/subscriptions/${world.sub}`, preview],
    'DELETE /subscriptions/{subscription_id} · by query': async () => [
      `/subscriptions/${await subscription()}?full_refund=true&prorate=false&cancel_unpaid_invoices=true&is_preview=false&comment=c&feedback=other&reason=r`,
    ],
    'POST /subscriptions · scheduled': async () => ['/subscriptions/', subscriptionBody({ starts_at: soon() })],
    'POST /subscriptions · on a trial, sent': async () => ['/subscriptions/', subscriptionBody({ trial_end: soon(), collection_method: 'send_invoice', net_d: 9, total_billing_cycles: 3 })],
    'GET /subscriptions/{subscription_id} · cancelled': async () => {
      const id = await subscription();
      await admin.delete(`/subscriptions/${id}`, { cancellation_details: { feedback: 'unused' } });
      return [`/subscriptions/${id}`];
    },
    'GET /invoices/{invoice_external_id} · expanded': async () => [`/invoices/${await firstInvoice()}?expand=customer&expand=subscription`],
    'GET /invoices/{invoice_external_id} · draft': async () => [`/invoices/${await byHand()}`],
    'GET /invoices/public/{public_permanent_token} · paid': async () => {
      const { body } = await admin.post('/subscriptions/', subscriptionBody());
      return [publicPath(body.invoices[0])];
    },
    'POST /invoice-items/list · waiting lines': async () => {
      await fresh('/invoice-items/', { customer_id: world.cus, price_id: world.price });
      return ['/invoice-items/list', { pending: true }];
    },
    'GET /prices/{price_id} · expanded': async () => [`/prices/${world.monthly}?expand=product`],
  };
}
