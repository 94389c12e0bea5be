import { readFileSync, writeFileSync } from 'node:fs';
import { declineClasses } from '../domain/payment/decline-class.js';
import { declines } from '../errors/catalogue.js';
import { unlistedDecline } from './decline-code.js';
import { declineDocument, declineTables } from './decline.document.js';

const file = new URL('DECLINES.md', import.meta.url);
const rows = Object.entries(declineTables).flatMap(([kind, tables]) => tables.flatMap((table) => table.rows.map((row) => ({ kind, ...row }))));

describe('the tables of decline codes', () => {
  it('give each normalised code its one class', () => {
    for (const { kind, code, outcomeClass, declineCode } of rows) {
      expect({ kind, code, outcomeClass }).toEqual({ kind, code, outcomeClass: declineClasses[declineCode] });
    }
    expect(unlistedDecline.outcomeClass).toBe(declineClasses[unlistedDecline.declineCode]);
  });

  it('name the source of each row', () => {
    for (const { kind, code, source } of rows) expect({ kind, code, source }).toEqual({ kind, code, source: expect.stringMatching(/^(docs\.[a-z]+\.com|libs|apps)\/.+/) });
  });

  it('keep the code for what is in no table to itself, but where a processor uses the very word', () => {
    const listed = rows.filter(({ declineCode }) => declineCode === unlistedDecline.declineCode);
    expect(listed.map(({ kind, code }) => `${kind} ${code}`)).toEqual(['http generic_decline']);
  });

  it('explain every normalised code', () => {
    for (const [code, { explanation, http }] of Object.entries(declines)) {
      expect({ code, http, words: explanation.split(' ').length > 2 }).toEqual({ code, http: 402, words: true });
    }
  });

  it('are what the page shows (SIGNALBOX_UPDATE_DECLINES=1 writes it anew)', () => {
    if (process.env.SIGNALBOX_UPDATE_DECLINES === '1') writeFileSync(file, declineDocument());
    expect(readFileSync(file, 'utf8')).toBe(declineDocument());
  });
});
