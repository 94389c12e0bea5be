import type { SecretBox } from '../db/secret.js';
import type { PaymentProcessorRow } from '../db/schema/index.js';
import { sealCredentials } from './connections.js';

const previous = 'previous_';
/** What processors sign their callbacks with; only these are ever kept beside their successors. */
const inbound = /(^|_)secret$/;

type Credentials = Record<string, string>;
type Stored = Pick<PaymentProcessorRow, 'id' | 'credentialsSealed'>;

/** Names that a caller may not use: they hold what was replaced. */
export function isReserved(name: string): boolean {
  return name.startsWith(previous);
}

/**
 * The connection's credentials replaced as a whole. Until `overlapUntil`, callbacks signed with a replaced secret are accepted
 * too: adapters find it as `previous_<name>`. Null: at once.
 */
export function rotatedCredentials(
  secrets: SecretBox,
  row: Stored,
  { credentials, overlapUntil }: { credentials: Credentials; overlapUntil: Date | null },
): Pick<PaymentProcessorRow, 'credentialsSealed' | 'credentialsOverlapUntil'> {
  const before = overlapUntil ? openCredentials(secrets, row) : null;
  const replaced = Object.entries(before ?? {}).filter(([name, value]) => inbound.test(name) && !isReserved(name) && credentials[name] !== value);
  const kept = Object.fromEntries(replaced.map(([name, value]) => [previous + name, value]));
  return {
    credentialsSealed: sealCredentials(secrets, row.id, { ...credentials, ...kept }),
    credentialsOverlapUntil: replaced.length > 0 ? overlapUntil : null,
  };
}

export function openCredentials(secrets: SecretBox, { id, credentialsSealed }: Stored): Credentials | null {
  if (!credentialsSealed) return null;
  return JSON.parse(secrets.open(credentialsSealed, { table: 'payment_processors', column: 'credentials_sealed', row: id })) as Credentials;
}

/** The credentials as they count at `now`: what a rotation left behind is gone when its time is over. */
export function validCredentials(credentials: Credentials | null, { overlapUntil, now }: { overlapUntil: Date | null; now: number }): Credentials | null {
  if (!credentials || (overlapUntil && overlapUntil.getTime() > now)) return credentials;
  return Object.fromEntries(Object.entries(credentials).filter(([name]) => !isReserved(name)));
}
