import fc from 'fast-check';
import { excerptOf } from './excerpt.js';
import { mintSecret } from './secret.js';

const excerpt = (text: string): string => excerptOf(Buffer.from(text));

describe('what is kept of an answer', () => {
  it('holds no secret', () => {
    const secret = mintSecret();
    expect(excerpt(`echo ${secret}`)).toBe('echo [redacted]');
    expect(excerpt('authorization: Bearer abcdefghijkl')).not.toContain('abcdefghijkl');
    expect(excerpt('{"token":"hunter2","ok":true}')).toBe('{"token":[redacted],"ok":true}');
    expect(excerpt('st_stg_aaaaaaaaaaaa')).toBe('[redacted]');
  });

  it('holds no card number, but keeps other numbers', () => {
    expect(excerpt('card 4242 4242 4242 4242!')).toBe('card [redacted]!');
    expect(excerpt('order 4242424242424241')).toBe('order 4242424242424241');
  });

  it('is at most 4 KiB of valid text without NUL', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 9000 }), (bytes) => {
      const text = excerptOf(bytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
      expect(text).not.toContain('\0');
      expect(Buffer.from(text).toString()).toBe(text);
    }));
    expect(Buffer.byteLength(excerpt('é'.repeat(5000)))).toBe(4096);
    expect(Buffer.byteLength(excerpt(`x${'é'.repeat(5000)}`))).toBe(4095);
  });
});
