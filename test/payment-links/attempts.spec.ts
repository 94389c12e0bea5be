import { createAccount, systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { beginAttempt, readTries, recordAttempt, type AttemptOutcome, type AttemptStart, type NewAttempt } from '../../libs/db/payment-link-attempt.writes.js';
import type { LinkLimits } from '../../libs/domain/payment-link/attempt-limit.js';
import { shared } from '../support/stack.js';

let database: Database;
beforeAll(() => {
  database = connect(shared.databaseUrlStaging, { max: 12 });
});
afterAll(() => database.close());

const wide = { count: 1_000, seconds: 600 };
const limitsWith = (more: Partial<LinkLimits>): LinkLimits => ({ perLink: wide, perAddress: wide, perMethod: wide, declines: wide, ...more });

async function freshTry(): Promise<NewAttempt> {
  const accountId = newId();
  const change = systemChange('staging', accountId);
  await transact(database.db, change, (tx) => createAccount(tx, change, { name: 'Attempts' }));
  return { accountId, paymentLinkId: newId(), addressHash: newId(), methodHash: newId(), paymentIntentId: newId(), tryNumber: 0 };
}

/** A try of its own that shares with `base` only what is named. */
const like = (base: NewAttempt, ...same: (keyof NewAttempt)[]): NewAttempt => ({
  paymentLinkId: newId(), addressHash: newId(), methodHash: newId(), paymentIntentId: newId(), tryNumber: 0, accountId: base.accountId,
  ...Object.fromEntries(same.map((key) => [key, base[key]])),
});

async function begin(attempt: NewAttempt, limits: LinkLimits, now = new Date()): Promise<AttemptStart> {
  const change = systemChange('staging', attempt.accountId);
  return transact(database.db, change, (tx) => beginAttempt(tx, attempt, { limits, now }));
}

async function record(start: AttemptStart, attempt: NewAttempt, outcome: AttemptOutcome): Promise<void> {
  if (start.kind !== 'begun') throw new Error(start.kind);
  const change = systemChange('staging', attempt.accountId);
  await transact(database.db, change, (tx) => recordAttempt(tx, start.id, outcome));
}

describe('tries of payment links', () => {
  it.each([
    ['link', { perLink: { count: 5, seconds: 600 } }, 'paymentLinkId'],
    ['address', { perAddress: { count: 5, seconds: 600 } }, 'addressHash'],
    ['card', { perMethod: { count: 5, seconds: 600 } }, 'methodHash'],
  ] as const)('of one %s at once: exactly as many begin as the limit leaves', async (_name, limits, shareds) => {
    const base = await freshTry();
    const starts = await Promise.all(Array.from({ length: 20 }, () => begin(like(base, shareds), limitsWith(limits))));
    expect(starts.filter(({ kind }) => kind === 'begun')).toHaveLength(5);
    for (const start of starts) if (start.kind !== 'begun') expect(start).toEqual({ kind: 'limited', retryAfterSeconds: expect.any(Number) });
    expect(await begin(like(base), limitsWith(limits))).toMatchObject({ kind: 'begun' });
  });

  it('sent twice at once are one', async () => {
    const attempt = await freshTry();
    const starts = await Promise.all(Array.from({ length: 10 }, () => begin(attempt, limitsWith({}))));
    expect(starts.map(({ kind }) => kind).sort()).toEqual(['begun', ...Array<string>(9).fill('repeated')]);
    expect(await readTries(database.db, attempt.paymentIntentId)).toMatchObject({ next: 1, latest: { outcome: 'started' } });
  });

  it('begin again when the oldest has left the window, and not a second before', async () => {
    const base = await freshTry();
    const limits = limitsWith({ perAddress: { count: 2, seconds: 600 } });
    const start = Date.now();
    const at = (seconds: number) => new Date(start + seconds * 1000);
    expect((await begin(like(base, 'addressHash'), limits, at(0))).kind).toBe('begun');
    expect((await begin(like(base, 'addressHash'), limits, at(300))).kind).toBe('begun');
    expect(await begin(like(base, 'addressHash'), limits, at(599))).toEqual({ kind: 'limited', retryAfterSeconds: 1 });
    expect((await begin(like(base, 'addressHash'), limits, at(600))).kind).toBe('begun');
    expect(await begin(like(base, 'addressHash'), limits, at(601))).toEqual({ kind: 'limited', retryAfterSeconds: 299 });
  });

  it('of a card count unless they succeeded', async () => {
    const base = await freshTry();
    const limits = limitsWith({ perMethod: { count: 2, seconds: 600 } });
    for (const outcome of ['succeeded', 'succeeded', 'declined', 'declined'] as const) {
      const attempt = like(base, 'methodHash');
      await record(await begin(attempt, limits), attempt, outcome);
    }
    expect((await begin(like(base, 'methodHash'), limits)).kind).toBe('limited');
    const elsewhere = await freshTry();
    expect((await begin({ ...like(elsewhere), methodHash: base.methodHash }, limits)).kind).toBe('begun');
  });
});
