import { createHash } from 'node:crypto';

/** Draws that a seed repeats. Each part of a run has its own, named, so that one part's draws do not move another's. */
export class Random {
  #state: Uint32Array;

  constructor(private readonly seed: string) {
    const digest = createHash('sha256').update(seed).digest();
    this.#state = Uint32Array.from([0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset)));
  }

  part(name: string | number): Random {
    return new Random(`${this.seed}/${name}`);
  }

  /** From 0 to below 1 (sfc32). */
  fraction(): number {
    const [a, b, c, counter] = this.#state as unknown as [number, number, number, number];
    const sum = (a + b + counter) >>> 0;
    this.#state = Uint32Array.from([b ^ (b >>> 9), (c + (c << 3)) >>> 0, (((c << 21) | (c >>> 11)) + sum) >>> 0, counter + 1]);
    return sum / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)]!;
  }

  /** A key with the likelihood of its weight. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) if ((left -= weight) < 0) return key;
    return entries.at(-1)![0];
  }
}
