import { readFileSync } from 'node:fs';
import { DomainError } from '../../errors/domain-error.js';
import {
  allowedCommands,
  assertMayMove,
  billingStatuses,
  diagram,
  isEntitled,
  moved,
  moves,
  subscriptionStatuses,
  table,
  type Standing,
  type State,
} from './subscription.machine.js';

function targetsOf(state: State | 'none'): State[] {
  return moves.flatMap((move) => {
    const row = table[move];
    if (!(row.from as readonly string[]).includes(state)) return [];
    return row.to === 'unchanged' ? [] : [...row.to];
  });
}

function reachable(): Set<State> {
  const seen = new Set<State>();
  const queue: (State | 'none')[] = ['none'];
  for (let state = queue.pop(); state; state = queue.pop()) {
    for (const target of targetsOf(state)) if (!seen.has(target)) seen.add(target), queue.push(target);
  }
  return seen;
}

describe('the subscription table', () => {
  const states = reachable();

  it('reaches every state that any row names, and nothing that no row names', () => {
    const named = new Set<string>(moves.flatMap((move) => [...table[move].from, ...(table[move].to === 'unchanged' ? [] : table[move].to)]));
    named.delete('none');
    expect([...states].sort()).toEqual([...named].sort());
  });

  it('leaves every state but cancelled, and cancelled never', () => {
    for (const state of states) expect(targetsOf(state).length > 0).toBe(state !== 'cancelled');
  });

  it('uses the published statuses only', () => {
    for (const state of states) {
      const [status, billing] = state.split('/');
      expect(subscriptionStatuses).toContain(status);
      if (state !== 'cancelled') expect(billingStatuses).toContain(billing);
    }
  });

  it('gives service while trialing current and while active current or past due, else not', () => {
    const entitled = [...states].filter((state) => {
      const [status, billingStatus] = state.split('/');
      return isEntitled({ status, billingStatus: billingStatus ?? null } as Standing);
    });
    expect(entitled.sort()).toEqual(['active/current', 'active/past_due', 'trialing/current']);
  });

  it('refuses what is not listed and names the state and the allowed moves', () => {
    const paused: Standing = { status: 'paused', billingStatus: 'current' };
    expect(() => assertMayMove(paused, 'cancel_at_end')).toThrow(DomainError);
    expect(allowedCommands(paused)).toEqual(['pause_again', 'resume', 'cancel', 'change_items', 'update']);
    expect(allowedCommands({ status: 'cancelled', billingStatus: null })).toEqual([]);
    expect(() => assertMayMove(paused, 'pause')).toThrow(/paused.*pause.*Allowed now: pause_again, resume, cancel, change_items, update/);
  });

  it('lets no move arrive outside the table', () => {
    const active: Standing = { status: 'active', billingStatus: 'current' };
    expect(() => moved(active, 'pause', { status: 'paused', billingStatus: 'incomplete' })).toThrow(/not in the table/);
  });

  it('is drawn in the README of the room', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(diagram());
  });
});
