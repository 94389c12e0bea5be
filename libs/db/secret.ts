import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface SecretKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** Where a sealed value lives. It is authenticated, so a ciphertext copied to another row or column does not open. */
export interface SecretPlace {
  table: string;
  column: string;
  row: string;
}

/** Encrypts what is kept at rest: processor credentials, webhook secrets, stored answers, raw requests. */
export interface SecretBox {
  /** `v1.<key id>.<base64url of nonce, tag and ciphertext>`, under the first key. */
  seal(plain: string, place: SecretPlace): string;
  /** Opens what any of the keys sealed. Throws if it was changed, moved, or its key is gone. */
  open(sealed: string, place: SecretPlace): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM. The first key seals, all of them open: rotate by putting a new one in front. */
export function createSecretBox(keys: readonly SecretKey[]): SecretBox {
  const [current] = keys;
  if (!current) throw new Error('At least one secret key is needed.');
  const byId = new Map<string, Buffer>();
  for (const { id, key } of keys) {
    if (key.length !== 32) throw new Error(`Secret key ${id} is ${key.length} bytes long; 32 are needed.`);
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) throw new Error('A secret key\'s id has 1 to 32 letters, digits, - or _.');
    if (byId.has(id)) throw new Error(`Secret key ${id} is named twice.`);
    byId.set(id, key);
  }
  return {
    seal(plain, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(associatedData(place, current.id));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v1.${current.id}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, id, payload, ...rest] = sealed.split('.');
      const key = id === undefined ? undefined : byId.get(id);
      if (version !== 'v1' || payload === undefined || rest.length > 0) throw new Error('Not a sealed value.');
      if (!key) throw new Error(`The secret key ${id} is not configured.`);
      const bytes = Buffer.from(payload, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(associatedData(place, id!))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
  };
}

function associatedData(place: SecretPlace, keyId: string): Buffer {
  return Buffer.from(JSON.stringify(['v1', keyId, place.table, place.column, place.row]), 'utf8');
}
