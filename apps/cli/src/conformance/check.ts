import type { Trial } from './trial.js';

/** One promise of the contract, tried against a provider. It throws `Broken` or `NotOffered`, or passes. */
export interface Check {
  /** Stays the same between versions, so that scripts can look for it. */
  name: string;
  promise: string;
  run(trial: Trial): Promise<void>;
}

/** What the provider did instead. */
export class Broken extends Error {}

/** The contract leaves it open, and this provider does not do it. */
export class NotOffered extends Error {}

/** @throws Broken with both values unless they are the same. */
export function same(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Broken(`${what} is ${a ?? 'absent'}, expected ${b}`);
}

export function holds(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Broken(otherwise);
}
