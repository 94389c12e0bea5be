import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { dataText, renderPayload, type DataFormat } from './payload.js';
import { mintSecret, standardKey } from './secret.js';
import { signatureDigest, standardHeaders } from './signature.js';
import { verifySignatureDigest, verifyWebhook } from './verify.js';

const eventId = 'event_stg_01h455vb4pex5vsknk084sn02q';
const endpointId = 'webhook_endpoint_stg_01h455vb4pex5vsknk084sn02q';

/** Keys before `data` hold a string, number or null, and strings try to look like the marker. */
const anyEventBody = fc
  .record({ idempotencyKey: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('x","data":{"a":1}')), sequence: fc.nat(), data: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()) })
  .map(({ idempotencyKey, sequence, data }) =>
    JSON.stringify({ id: eventId, object: 'event', user: null, request_idempotency_key: Buffer.from(idempotencyKey).toString(), sequence, data: JSON.parse(JSON.stringify(data).replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '')) }));

function sign(eventBody: string, secrets: string[], format: DataFormat = 'object', attemptedAtSeconds = 1_800_000_000) {
  const { data, ...head } = JSON.parse(eventBody) as { data: object };
  const payload = renderPayload({ format, eventId, endpointId, head: JSON.stringify(head), data: JSON.stringify(data) });
  const headers = {
    'signature-digest': signatureDigest({ createdAtSeconds: 1_700_000_000, data: payload.signed, secrets }),
    ...standardHeaders({ id: eventId, attemptedAtSeconds, body: payload.body, secrets }),
  };
  return { body: payload.body, headers };
}

describe('the signed webhook', () => {
  it('is byte for byte what the contract says', () => {
    const digest = signatureDigest({ createdAtSeconds: 1700000000, data: '{"a":1}', secrets: ['first', 'second'] });
    expect(digest).toBe(
      't=1700000000,v1=6cec7c3b97296f6145c73e625243d78410b7e9bc25f64f9065364bc2424d8933,v1=5929603d3c4708e1bd2b60b15eb7238c9c5e7ea672c323685492c927776c28d5',
    );
  });

  it('verifies at the independent Standard Webhooks implementation, with either live secret', () => {
    const [newest, older] = [mintSecret(), mintSecret()];
    const { body, headers } = sign('{"id":"e","object":"event","data":{"a":1}}', [newest, older], 'object', Math.floor(Date.now() / 1000));
    expect(new Webhook(newest).verify(body, headers)).toEqual(JSON.parse(body));
    expect(new Webhook(older).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(mintSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(newest).verify(`${body} `, headers)).toThrow();
  });

  it('covers exactly the bytes of data, whatever the other keys hold', () => {
    fc.assert(fc.property(anyEventBody, (eventBody) => {
      expect(dataText(sign(eventBody, []).body)).toBe(JSON.stringify(JSON.parse(eventBody).data));
      expect(sign(eventBody, []).body).toBe(eventBody);
    }));
  });

  it('verifies for one live secret, in both formats, and for no other secret or body', () => {
    fc.assert(fc.property(anyEventBody, fc.constantFrom<DataFormat>('object', 'string'), (eventBody, format) => {
      const secrets = [mintSecret(), mintSecret()];
      const options = { nowSeconds: 1_800_000_000 };
      const received = { ...sign(eventBody, secrets, format), format };
      for (const secret of secrets) expect(verifyWebhook({ ...received, secrets: [secret] }, options)).toEqual({ valid: true });
      expect(verifyWebhook({ ...received, secrets: [mintSecret()] }, options).valid).toBe(false);
      const changed = received.body.replace(/.{2}$/, ' $&');
      expect(verifySignatureDigest({ ...received, body: changed, secrets }).valid).toBe(false);
      expect(verifyWebhook({ ...received, body: changed, secrets }, options).valid).toBe(false);
    }));
  });

  it('is refused when it is old, and other signature versions are passed over', () => {
    const secret = mintSecret();
    const received = { ...sign('{"id":"e","data":{}}', [secret]), secrets: [secret] };
    expect(verifyWebhook(received, { nowSeconds: 1_800_000_301 })).toEqual({ valid: false, reason: 'webhook-timestamp is outside the tolerance' });
    const later = received.headers['signature-digest'].replace(',v1=', ',v2=abc,v1=');
    expect(verifySignatureDigest({ ...received, headers: { 'signature-digest': later } })).toEqual({ valid: true });
    const onlyLater = received.headers['signature-digest'].replace('v1=', 'v2=');
    expect(verifySignatureDigest({ ...received, headers: { 'signature-digest': onlyLater } }).valid).toBe(false);
    expect(verifySignatureDigest({ ...received, headers: {} }).valid).toBe(false);
  });
});

describe('a signing secret', () => {
  it('is whsec_ and 32 random bytes', () => {
    expect(mintSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(standardKey(mintSecret())).toHaveLength(32);
    expect(mintSecret()).not.toBe(mintSecret());
    expect(() => standardKey('whsec_short')).toThrow(RangeError);
  });
});
