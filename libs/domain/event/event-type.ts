const crud = ['created', 'updated', 'deleted'] as const;

/** Families with the plain life cycle. */
const families = [
  'account', 'api_token', 'charge', 'coupon', 'credit_note', 'customer', 'customer_balance_transaction', 'customer.subscription', 'discount',
  'dispute', 'invite', 'invite_item_discount', 'invoice', 'invoice_discount', 'invoice_item', 'payment_intent', 'payment_link',
  'payment_method', 'payment_processor', 'payment_route', 'price', 'product', 'product_family', 'promotion_code', 'refund',
  'subscription_item', 'test_clock', 'user', 'user_login', 'user_record', 'user_record_summary', 'webhook_endpoint', 'checkout_session',
] as const;

const moments = [
  'charge.succeeded', 'charge.failed', 'charge.pending', 'charge.captured', 'charge.refunded', 'charge.voided', 'charge.exception',
  'invoice.finalized', 'invoice.paid', 'invoice.past_due', 'invoice.voided', 'invoice.uncollectible', 'invoice.upcoming', 'invoice.reminder',
  'payment_intent.succeeded', 'payment_intent.processing', 'payment_intent.requires_action', 'payment_intent.requires_capture',
  'payment_intent.failed', 'payment_intent.canceled', 'payment_intent.exception',
  'payment_link.paused',
  'charge_stop.started', 'charge_stop.lifted',
  'payment_method.authorized', 'payment_method.attached', 'payment_method.detached',
  'payment_processor.degraded', 'payment_processor.recovered',
  'payment_route.published',
  'customer.subscription.activated', 'customer.subscription.canceled', 'customer.subscription.paused', 'customer.subscription.resumed',
  'customer.subscription.past_due', 'customer.subscription.trialing', 'customer.subscription.trial_will_end',
  'customer.subscription.resume_failed', 'customer.subscription.payment_method_detached', 'customer.subscription.unpaid',
  'customer.subscription.dunning_started', 'customer.subscription.dunning_retry_scheduled', 'customer.subscription.dunning_blocked',
  'customer.subscription.dunning_recovered', 'customer.subscription.dunning_ended',
  'checkout_session.completed', 'checkout_session.expired',
  'test_clock.advancing', 'test_clock.ready', 'test_clock.internal_failure',
  'webhook_endpoint.disabled', 'webhook_endpoint.enabled', 'webhook_endpoint.paused', 'webhook_endpoint.resumed', 'webhook_endpoint.test',
  'webhook_endpoint.failing', 'webhook_endpoint.recovered', 'webhook_delivery.exhausted',
  'webhook_job.created', 'webhook_job.completed', 'webhook_job.failed', 'webhook_job.cancelled',
] as const;

export type EventType = `${(typeof families)[number]}.${(typeof crud)[number]}` | (typeof moments)[number];

/** Every event type that this service can send: the published ones, and ours in the same style. */
export const eventTypes: readonly EventType[] = [
  ...families.flatMap((family) => crud.map((verb) => `${family}.${verb}` as const)),
  ...moments,
];

/** What the types about people and access begin with. */
export const sensitivePrefixes = ['user.', 'user_login.', 'invite.', 'api_token.'];

/** Types about people and access: an endpoint gets them only when it names them (exactly, or by their prefix). */
export function isSensitiveType(type: string): boolean {
  return sensitivePrefixes.some((prefix) => type.startsWith(prefix));
}
