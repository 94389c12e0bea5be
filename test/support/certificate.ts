import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
  name: string;
  privateKey: KeyObject;
}

export interface CertificateWish {
  /** Common name, and the only host name that it is for. */
  name: string;
  from?: Date;
  until?: Date;
  /** Signs itself without one. */
  issuer?: Certificate;
}

const day = 86_400_000;
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));

/** An X.509 certificate on a new P-256 key, as a receiver's TLS server shows it. */
export function certificate({ name, from = new Date(Date.now() - day), until = new Date(Date.now() + day), issuer }: CertificateWish): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const extensions = sequence(issuer ? subjectAltName(name) : authority());
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([Math.floor(Math.random() * 100) + 1])),
    ecdsaWithSha256,
    commonName(issuer?.name ?? name),
    sequence(utcTime(from), utcTime(until)),
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey);
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g)!.join('\n');
  const cert = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, name, privateKey };
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...contents: Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));
}

function utcTime(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
}

function subjectAltName(name: string): Buffer {
  return sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(der(0x82, Buffer.from(name)))));
}

function authority(): Buffer {
  return sequence(oid(0x55, 0x1d, 0x13), der(0x01, Buffer.from([0xff])), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
}
