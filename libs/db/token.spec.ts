import { randomBytes } from 'node:crypto';
import { hashToken, hintOf, mintToken, readToken } from './token.js';

const key = randomBytes(32);

describe('api token', () => {
  it('carries its environment and is read back to its keyed hash', () => {
    const token = mintToken('staging');
    expect(token).toMatch(/^st_stg_[0-9A-Za-z]{49}$/);
    expect(mintToken('production')).toMatch(/^st_prod_[0-9A-Za-z]{49}$/);
    expect(readToken(token, 'staging', key)).toEqual({ kind: 'ok', hash: hashToken(token, key) });
    expect(hashToken(token, randomBytes(32))).not.toBe(hashToken(token, key));
  });

  it('is told apart from one of the other environment', () => {
    expect(readToken(mintToken('production'), 'staging', key)).toEqual({ kind: 'other_environment' });
    expect(readToken(mintToken('staging'), 'production', key)).toEqual({ kind: 'other_environment' });
  });

  it('fails its checksum when any character is mistyped', () => {
    const token = mintToken('staging');
    for (let at = 7; at < token.length; at++) {
      const typo = token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);
      expect(readToken(typo, 'staging', key)).toEqual({ kind: 'malformed' });
    }
    expect(readToken('', 'staging', key)).toEqual({ kind: 'malformed' });
    expect(readToken(`${token}a`, 'staging', key)).toEqual({ kind: 'malformed' });
  });

  it('shows only its first characters', () => {
    const token = mintToken('staging');
    expect(hintOf(token)).toBe(`${token.slice(0, 11)}…`);
  });
});
