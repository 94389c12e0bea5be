import { randomUUID } from 'node:crypto';
import { idKinds, publicId } from '../../libs/views/ids.js';
import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { fill, readOperations, smallest, type Operation, type Schema } from '../support/operation.js';

let account: TestAccount;
let operations: Operation[];
beforeAll(async () => {
  account = await freshAccount();
  operations = await readOperations();
});

const anyId = () => publicId(idKinds[0], 'staging', randomUUID().replace(/^(.{14})4/, '$17'));
const badPaths = ['x', '%00', '%F0%9F%92%A9', '..%2F..%2Fetc', "'%20or%201=1", 'cus_stg_zzzzzzzzzzzzzzzzzzzzzzzzzz', 'a'.repeat(499)];
const badValues: unknown[] = [
  null, true, 0, -1, 1.5, 1e308, 2 ** 53, '', 'x', ' ', '\u{1f4a9}', "'; drop table customers; --", '%s%n', '9'.repeat(30),
  '2030-02-30T00:00:00Z', '+275760-09-13T00:00:00Z', '0000-01-01T00:00:00Z', [], [null], [[]], {}, { a: { b: {} } }, 'cus_stg_01h455vb4pex5vsknk084sn02q',
];
const badQueries = ['', '%00', 'x', '-1', '1e9', '%F0%9F%92%A9', '9'.repeat(40), "'"];

interface Attempt {
  operation: Operation;
  method: string;
  path: string;
  body?: unknown;
  raw?: string;
}

function attemptsOf(operation: Operation): Attempt[] {
  const { method } = operation;
  const path = fill(operation, anyId);
  const paths: Attempt[] = operation.pathNames.length === 0 ? [] : badPaths.map((bad) => ({ operation, method, path: fill(operation, () => bad) }));
  const queries: Attempt[] = [...operation.query.map(({ name }) => name), 'unknown'].flatMap((name) =>
    badQueries.map((bad) => ({ operation, method, path: `${path}?${name}=${bad}` })));
  if (method === 'GET') return [...paths, ...queries];
  const raws: Attempt[] = ['[]', '"x"', '1', 'null', '{', '{"a":1,"a":2}', '{"a":"\\u0000"}', '{"a":"\\ud800"}'].map((raw) => ({ operation, method, path, raw }));
  return [...paths, ...queries, ...raws, ...bodiesOf(operation.body ?? {}).map((body) => ({ operation, method, path, body }))];
}

/** The smallest body, and then each field wrong in every way, at two levels. */
function bodiesOf(schema: Schema): unknown[] {
  const base = smallest({ type: 'object', ...schema }) as Record<string, unknown>;
  const bodies: unknown[] = [base, { ...base, 'no such field': 1 }];
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    for (const bad of badValues) bodies.push({ ...base, [key]: bad });
    for (const deep of Object.keys(inner.properties ?? inner.items?.properties ?? {})) {
      for (const bad of badValues.slice(0, 6)) bodies.push({ ...base, [key]: inner.items ? [{ [deep]: bad }] : { [deep]: bad } });
    }
  }
  return bodies;
}

async function faultsOf(attempt: Attempt): Promise<string[]> {
  const answer = await account.admin.send(attempt.method, attempt.path, attempt.body, attempt.raw === undefined ? {} : { raw: attempt.raw });
  const where = `${attempt.method} ${attempt.path.slice(0, 120)} ${(attempt.raw ?? JSON.stringify(attempt.body) ?? '').slice(0, 200)}`;
  return problemsWith(answer).map((problem) => `${where}: ${problem}`);
}

function problemsWith({ status, headers, body, text }: Answer): string[] {
  const problems: string[] = [];
  if (status >= 500) problems.push(`answered ${status}`);
  if (!/^req_stg_/.test(headers.get('x-request-id') ?? '')) problems.push('no request id');
  if (status < 400) return problems;
  if (headers.get('content-type') !== 'application/problem+json') problems.push(`${status} as ${headers.get('content-type')}`);
  for (const member of ['type', 'title', 'detail', 'code', 'request_id']) if (typeof body?.[member] !== 'string') problems.push(`no ${member}`);
  if (status === 422 && !Array.isArray(body?.errors)) problems.push('422 without errors');
  if (/node_modules|\bat .*\.js:\d+|Failed query|violates|relation "|syntax error at/.test(text)) problems.push('tells about its inside');
  return problems;
}

describe('bad input on each route', () => {
  it('is never a 5xx, always a problem, and tells nothing about the inside', async () => {
    const attempts = operations.flatMap(attemptsOf);
    expect(attempts.length).toBeGreaterThan(2000);
    const faults: string[] = [];
    const worker = async () => {
      for (let attempt = attempts.pop(); attempt; attempt = attempts.pop()) faults.push(...(await faultsOf(attempt)));
    };
    await Promise.all(Array.from({ length: 12 }, worker));
    expect(faults.slice(0, 30)).toEqual([]);
  }, 600_000);

  it('names the unknown field', async () => {
    for (const operation of operations.filter(({ body }) => body?.properties)) {
      const body = { ...(smallest(operation.body!) as object), 'no such field': 1 };
      const answer = await account.admin.send(operation.method, fill(operation, anyId), body);
      expect([operation.name, answer.status]).toEqual([operation.name, 422]);
      expect([operation.name, answer.body.errors]).toEqual([operation.name, expect.arrayContaining([expect.objectContaining({ loc: ['body', 'no such field'] })])]);
    }
  });
});
