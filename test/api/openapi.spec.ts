import { readFileSync, writeFileSync } from 'node:fs';
import { operations } from '../../apps/api/src/docs/docs.operations.js';
import { shared } from '../support/stack.js';

const committed = 'apps/api/openapi.json';

describe('the OpenAPI document', () => {
  it('is the committed one (SIGNALBOX_UPDATE_OPENAPI=1 writes it anew)', async () => {
    const text = `${JSON.stringify(await (await fetch(`${shared.stagingUrl}/openapi.json`)).json(), null, 2)}\n`;
    if (process.env.SIGNALBOX_UPDATE_OPENAPI === '1') writeFileSync(committed, text);
    expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(committed, 'utf8')));
  });

  it('tells in words what each operation does, and of no operation that is not there', async () => {
    const document = JSON.parse(readFileSync(committed, 'utf8'));
    const served = Object.values<Record<string, { operationId: string; summary?: string }>>(document.paths).flatMap((item) => Object.values(item));
    expect(served.filter(({ summary }) => !summary).map(({ operationId }) => operationId)).toEqual([]);
    expect(Object.keys(operations).sort()).toEqual(served.map(({ operationId }) => operationId).sort());
  });

  it('describes a 2xx answer for every operation, and every error the same way', async () => {
    const document = JSON.parse(readFileSync(committed, 'utf8'));
    expect(document.openapi).toBe('3.0.0');
    for (const [path, item] of Object.entries<Record<string, { responses: Record<string, unknown> }>>(document.paths)) {
      for (const [method, { responses }] of Object.entries(item)) {
        expect([method, path, Object.keys(responses).some((status) => status.startsWith('2')), 'default' in responses]).toEqual([method, path, true, true]);
      }
    }
  });
});
