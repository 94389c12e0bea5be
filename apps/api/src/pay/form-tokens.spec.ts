import { mintForm, readForm } from './form-tokens.js';

const key = Buffer.alloc(32, 7);
const link = '0190b9a0-0000-7000-8000-000000000001';
const other = '0190b9a0-0000-7000-8000-000000000002';

describe('the token of a payment form', () => {
  it('is read back for its own link only', () => {
    const form = mintForm(link, key);
    expect(readForm(link, form.token, { key, now: new Date() })).toEqual(form);
    expect(readForm(other, form.token, { key, now: new Date() })).toBeNull();
    expect(readForm(link, form.token, { key: Buffer.alloc(32, 8), now: new Date() })).toBeNull();
  });

  it('cannot be changed or made up', () => {
    const { token } = mintForm(link, key);
    const signature = token.split('.')[1]!;
    for (const wrong of [undefined, '', 'x', `${'A'.repeat(22)}.${signature}`, `${token}A`, token.slice(0, -1), `${token.slice(0, 22)}.`, `.${signature}`]) {
      expect(readForm(link, wrong, { key, now: new Date() })).toBeNull();
    }
  });

  it('is too old to begin a payment after a day', () => {
    const form = mintForm(link, key);
    const day = 24 * 3600_000;
    expect(readForm(link, form.token, { key, now: new Date(Date.now() + day - 5_000) })?.isOld).toBe(false);
    expect(readForm(link, form.token, { key, now: new Date(Date.now() + day + 5_000) })?.isOld).toBe(true);
  });
});
