import { randomBytes } from 'node:crypto';
import { createSecretBox } from './secret.js';

const place = { table: 'webhook_secrets', column: 'sealed', row: '0190' };
const first = { id: 'k1', key: randomBytes(32) };
const second = { id: 'k2', key: randomBytes(32) };

describe('secret box', () => {
  it('opens what it sealed, and seals the same text differently each time', () => {
    const box = createSecretBox([first]);
    const sealed = box.seal('whsec_ä', place);
    expect(box.open(sealed, place)).toBe('whsec_ä');
    expect(box.seal('whsec_ä', place)).not.toBe(sealed);
    expect(sealed).not.toContain('whsec');
  });

  it('names the key in the ciphertext and opens old values after a rotation', () => {
    const old = createSecretBox([first]).seal('a', place);
    const rotated = createSecretBox([second, first]);
    expect(old.split('.')[1]).toBe('k1');
    expect(rotated.seal('a', place).split('.')[1]).toBe('k2');
    expect(rotated.open(old, place)).toBe('a');
    expect(() => createSecretBox([second]).open(old, place)).toThrow('k1 is not configured');
  });

  it.each(['table', 'column', 'row'] as const)('does not open at another %s', (part) => {
    const box = createSecretBox([first]);
    expect(() => box.open(box.seal('a', place), { ...place, [part]: 'other' })).toThrow();
  });

  it('does not open a changed value', () => {
    const box = createSecretBox([first]);
    const bytes = Buffer.from(box.seal('abc', place).split('.')[2]!, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(() => box.open(`v1.k1.${changed.toString('base64url')}`, place)).toThrow();
    }
  });

  it('refuses keys of another length, and two with one id', () => {
    expect(() => createSecretBox([{ id: 'k', key: randomBytes(16) }])).toThrow('16 bytes');
    expect(() => createSecretBox([])).toThrow();
    expect(() => createSecretBox([first, { ...second, id: 'k1' }])).toThrow('twice');
  });
});
