import { LRUCache } from 'lru-cache';
import { fromString, fromUUID, toUUID } from 'typeid-js';
import { environmentMarker, type Environment } from '../domain/environment.js';

/** Every kind of object that has a public id; the kind is the id's first part. */
export const idKinds = [
  'acct', 'usr', 'invite', 'tok', 'cus', 'pm', 'pmm', 'sub', 'si', 'product', 'pf', 'price', 'inv', 'ii', 'cn', 'cni',
  'pi', 'ch', 're', 'dp', 'route', 'processor', 'plink', 'plinkitem', 'cs', 'cbt', 'coupon', 'promo', 'di', 'event',
  'webhook_endpoint', 'whd', 'clock', 'bps', 'meter', 'mev', 'mea', 'seti', 'tax', 'cmd', 'req', 'plli', 'att', 'wha', 'whs', 'job', 'audit', 'stop', 'recon', 'email',
] as const;
export type IdKind = (typeof idKinds)[number];

const kindNames: Partial<Record<IdKind, string>> = {
  acct: 'account', tok: 'token', cus: 'customer', pm: 'payment method', pmm: 'payment method mapping', sub: 'subscription', si: 'subscription item',
  pf: 'product family', inv: 'invoice', pi: 'payment intent', ch: 'charge', re: 'refund', dp: 'dispute', route: 'payment route', processor: 'payment processor',
  plink: 'payment link', webhook_endpoint: 'webhook endpoint', whs: 'signing secret', whd: 'webhook delivery', job: 'webhook job', att: 'attention item',
  clock: 'test clock', email: 'e-mail', stop: 'charge stop', recon: 'reconciliation',
};

/** What an error calls an object of this kind. */
export function kindName(kind: IdKind): string {
  return kindNames[kind] ?? kind;
}

/** One payment shows its own id, its account's and its customer's a dozen times. By kind and environment: so a UUID is the key as it is. */
const shown = { production: new Map<IdKind, LRUCache<string, string>>(), staging: new Map<IdKind, LRUCache<string, string>>() };
const shownOfKind = 5_000;

/** `<kind>_<prod|stg>_<26 characters>` for a UUID. */
export function publicId(kind: IdKind, environment: Environment, uuid: string): string {
  let known = shown[environment].get(kind);
  if (!known) shown[environment].set(kind, (known = new LRUCache({ max: shownOfKind })));
  const before = known.get(uuid);
  if (before !== undefined) return before;
  const id = String(fromUUID(uuid, `${kind}_${environmentMarker[environment]}`));
  known.set(uuid, id);
  return id;
}

/** The UUID inside a public id, or null if it is malformed, of another kind or of another environment. */
export function parsePublicId(kind: IdKind, environment: Environment, id: string): string | null {
  const prefix = `${kind}_${environmentMarker[environment]}`;
  if (!id.startsWith(`${prefix}_`) || id.length !== prefix.length + 27) return null;
  try {
    const uuid = toUUID(fromString(id, prefix));
    return publicId(kind, environment, uuid) === id ? uuid : null;
  } catch {
    return null;
  }
}

/** The UUID inside a public id that was checked before it was stored. */
export function uuidOf(id: string): string {
  return toUUID(fromString(id));
}

/** The UUID inside a public id of any kind, or null. */
export function parseAnyPublicId(environment: Environment, id: string): string | null {
  const kind = idKinds.find((candidate) => id.startsWith(`${candidate}_${environmentMarker[environment]}_`));
  return kind === undefined ? null : parsePublicId(kind, environment, id);
}
