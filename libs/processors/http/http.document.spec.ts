import { readFileSync, writeFileSync } from 'node:fs';
import { contractDocument } from './http.document.js';

const file = new URL('contract.openapi.json', import.meta.url);

describe('the published contract', () => {
  it('is made of the shapes that the adapter checks (SIGNALBOX_UPDATE_OPENAPI=1 writes it anew)', () => {
    const text = `${JSON.stringify(contractDocument(), null, 2)}\n`;
    if (process.env.SIGNALBOX_UPDATE_OPENAPI === '1') writeFileSync(file, text);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
