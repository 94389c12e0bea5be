import { freshAccount, type TestAccount } from '../support/account.js';
import { readOperations, type Operation, type Schema } from '../support/operation.js';
import { buildWorld } from '../support/world.js';
import { furtherCalls, publishedCalls, publishedObjects, type Call } from './published-calls.js';
import { mismatches, published } from './strict-decoder.js';

/** Published operations of what is not built: catalogues of discounts, meters, taxes, and the hosted checkout and portal. */
const later = [
  'POST /billing/meter-event-adjustments', 'POST /billing/meter-events', 'POST /billing/meter-events/list', 'POST /billing/meters',
  'POST /billing/meters/list', 'GET /billing/meters/{meter_id}', 'POST /billing/meters/{meter_id}/deactivate', 'POST /billing/meters/{meter_id}/reactivate',
  'POST /billing_portal/sessions', 'GET /checkout/checkout_attempts/validate/{checkout_attempt_id}', 'POST /checkout/list', 'POST /checkout/sessions',
  'GET /checkout/sessions/{checkout_secure_token}/verify_payment_method/{payment_method_id}', 'GET /checkout/sessions/{session_id}',
  'POST /coupons', 'POST /coupons/list', 'DELETE /coupons/{coupon_id}', 'GET /coupons/{coupon_id}', 'PUT /coupons/{coupon_id}',
  'POST /credit-notes', 'POST /credit-notes/list', 'GET /credit-notes/{credit_note_id}', 'DELETE /customers/{customer_id}/discount',
  'POST /integrations/tax', 'POST /promotion-codes', 'GET /promotion-codes/code/{promo_code}', 'POST /promotion-codes/list',
  'GET /promotion-codes/{promo_code_id}', 'PUT /promotion-codes/{promo_code_id}', 'GET /signup-answers',
];
/** Fields of requests that are taken only as null, for the same reason; a period's end and an item's start do not move by themselves. */
const nullOnly = [
  'CheckoutPreferences.override_feature_rollout_settings',
  'CreateInvoiceRequest.coupon_id', 'CreateSubscriptionRequest.attach_to_checkout_attempt_id', 'CreateSubscriptionRequest.checkout_preferences',
  'CreateSubscriptionRequest.coupon_id', 'CreateSubscriptionRequest.promotion_code', 'InlineSubscriptionItemUpdate.starts_at',
  'InvoiceItemsQueryParams.coupon_id', 'InvoiceQueryParams.coupon_id', 'SubscriptionQueryParams.coupon_id', 'UpdateInvoiceRequest.coupon_id',
  'UpdateSubscriptionRequest.coupon_id', 'UpdateSubscriptionRequest.new_period_end', 'UpdateSubscriptionRequest.promotion_code',
];
/** A link sells by no other prices than its own. */
const narrower = [
  'CheckoutPreferences.fallback_cascade_preferences: no object', 'CheckoutPreferences.fallback_cascade_selected_product_price_quantity: no object',
];

const names = Object.keys(published.operations);
const anyName = (name: string) => name.replace(/\{\w+\}/g, '{}');

let account: TestAccount;
let calls: Record<string, Call>;
let served: Map<string, Operation>;
beforeAll(async () => {
  account = await freshAccount();
  served = new Map((await readOperations()).map((operation) => [anyName(operation.name), operation]));
  const objects = publishedObjects(account, await buildWorld(account));
  calls = { ...publishedCalls(objects), ...furtherCalls(objects) };
}, 180_000);

const further = Object.keys(furtherCalls({} as never));

async function isAsPublished(key: string): Promise<void> {
  const [name] = key.split(' · ');
  const [path, body] = await calls[key]!();
  const answer = await account.admin.send(name!.split(' ')[0]!, path, body);
  const { status, shape } = published.operations[name!]!;
  expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([status, '']);
  if (!shape) return;
  expect(mismatches(answer.body, shape, '')).toEqual([]);
  const listed = shape.startsWith('[]') ? answer.body : shape.startsWith('#ListResponse') ? answer.body.data : null;
  if (listed) expect(listed.length).toBeGreaterThan(0);
}

describe('published operations', () => {
  it('are served, but for those of what is not built', () => {
    expect(names.filter((name) => !served.has(anyName(name)))).toEqual(later);
  });

  it.each(names.filter((name) => !later.includes(name)))('%s answers as published', isAsPublished, 180_000);

  it.each(further)('%s answers as published', isAsPublished, 180_000);

  it('are called as a preview too, and by query, wherever that is served', () => {
    const forms = names.flatMap((name) => {
      const operation = served.get(anyName(name));
      const isPreviewed = operation?.body?.properties?.is_preview !== undefined;
      const isByQuery = operation?.method === 'DELETE' && operation.query.length > 0;
      return [...(isPreviewed ? [`${name} · preview`] : []), ...(isByQuery ? [`${name} · by query`] : [])];
    });
    expect(forms.length).toBeGreaterThan(8);
    expect(forms.filter((form) => !further.includes(form))).toEqual([]);
  });
});

describe('published requests', () => {
  it('are taken: each query parameter, each field of a body, each of its values', () => {
    const withheld: string[] = [];
    const refused = names.flatMap((name) => {
      const operation = served.get(anyName(name));
      if (!operation) return [];
      const { query = [], request } = published.operations[name]!;
      const unknown = query.filter((parameter) => !operation.query.some((known) => known.name === parameter));
      return [...unknown.map((parameter) => `${name}?${parameter}`), ...(request ? refusals(operation.body, request, withheld) : [])];
    });
    expect(refused).toEqual(narrower);
    expect([...new Set(withheld)].sort()).toEqual(nullOnly);
  });
});

/** What of a published request our schema would refuse; fields that it takes only as null go to `withheld`. */
function refusals(schema: Schema | null, type: string, withheld: string[], at = ''): string[] {
  const bare = type.replace(/\?$/, '');
  const choices = schema?.anyOf ?? schema?.oneOf ?? [schema ?? {}];
  if (bare.startsWith('[]')) return refusals(choices.find(({ items }) => items)?.items ?? null, bare.slice(2), withheld, at);
  if (!bare.startsWith('#')) return [];
  const name = bare.slice(1);
  const shape = published.shapes[name]!;
  if (typeof shape === 'string') {
    const ours = choices.flatMap((choice) => choice.enum ?? []);
    const theirs = shape.startsWith('enum:') ? shape.slice(5).split(',') : [];
    return ours.length === 0 ? [] : theirs.filter((value) => !ours.includes(value)).map((value) => `${at}: ${value}`);
  }
  const object = choices.find(({ properties }) => properties);
  if (!object) return [`${at || name}: no object`];
  const required = (object.required ?? []).filter((key) => !(key in shape)).map((key) => `${name}.${key}: required`);
  return [...required, ...Object.entries(shape).flatMap(([key, each]) => {
    const field = `${name}.${key.replace('~', '')}`;
    const ours = object.properties![key.replace('~', '')];
    if (!ours) return [`${field}: unknown`];
    if (ours.enum?.length === 1 && ours.enum[0] === null) return (withheld.push(field), []);
    return [...(each.endsWith('?') && !takesNull(ours) ? [`${field}: null`] : []), ...refusals(ours, each, withheld, field)];
  })];
}

function takesNull(schema: Schema): boolean {
  return schema.nullable === true || schema.type === 'null' || [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(takesNull);
}
