import { FollowUpLimit } from './follow-up-limit.js';

const connection = { id: 'slow', deadlines: { connectMs: 5_000, totalMs: 60_000 } };

describe('calls that follow up on earlier ones', () => {
  it('have so many places at each connection, and none is lost', () => {
    const limit = new FollowUpLimit(2);
    expect(['slow', 'slow', 'slow', 'other'].map((id) => limit.begin(id))).toEqual([true, true, false, true]);
    limit.end('slow');
    expect([limit.begin('slow'), limit.begin('slow')]).toEqual([true, false]);
    for (const id of ['slow', 'slow', 'other']) limit.end(id);
    expect([limit.begin('slow'), limit.begin('slow'), limit.begin('slow')]).toEqual([true, true, false]);
  });

  it('that find no place get turns as far apart as places become free while every call takes all its time, up to ten minutes', () => {
    const limit = new FollowUpLimit(20);
    for (let call = 0; call < 20; call += 1) limit.begin('slow');
    expect([0, 0, 0].map((now) => limit.turnMs(connection, now))).toEqual([4_000, 7_000, 10_000]);
    expect(limit.turnMs(connection, 8_000)).toBe(5_000);
    expect(limit.turnMs(connection, 60_000)).toBe(4_000);
    for (let call = 0; call < 1_000; call += 1) limit.turnMs(connection, 60_000);
    expect(limit.turnMs(connection, 60_000)).toBe(600_000);
    expect(limit.turnMs({ ...connection, id: 'other' }, 60_000)).toBe(1_000);
  });
});
