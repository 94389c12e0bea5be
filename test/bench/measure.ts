import { performance } from 'node:perf_hooks';

export interface Sample {
  /** Operations per second over the whole run. */
  rate: number;
  p50: number;
  p99: number;
  count: number;
  errors: number;
  /** Milliseconds, in the order in which they ended. */
  latencies: readonly number[];
}

export interface Load {
  callers: number;
  /** Ends after this many operations or seconds, whichever is first. */
  operations: number;
  seconds: number;
}

/** Closed loop: each caller starts its next operation when the last one has ended. Latencies in milliseconds. */
export async function load(operation: (index: number) => Promise<void>, { callers, operations, seconds }: Load): Promise<Sample> {
  const latencies: number[] = [];
  let started = 0;
  let errors = 0;
  let lastError: unknown;
  const begin = performance.now();
  const end = begin + seconds * 1000;
  const caller = async () => {
    while (started < operations && performance.now() < end) {
      const index = started++;
      const at = performance.now();
      try {
        await operation(index);
        latencies.push(performance.now() - at);
      } catch (error) {
        errors += 1;
        lastError = error;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const took = (performance.now() - begin) / 1000;
  if (latencies.length === 0) throw new Error(`no operation succeeded: ${String(lastError)}`);
  return sampleOf(latencies, { took, errors });
}

function sampleOf(latencies: readonly number[], { took, errors }: { took: number; errors: number }): Sample {
  return { rate: latencies.length / took, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), count: latencies.length, errors, latencies };
}

/** Several runs as one: a tail of many short runs says more than the tail of one. */
export function pooled(samples: readonly Sample[]): Sample {
  const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0);
  return sampleOf(samples.flatMap(({ latencies }) => latencies), { took: sum(({ count, rate }) => count / rate), errors: sum(({ errors }) => errors) });
}

export interface Pace {
  perSecond: number;
  seconds: number;
  /** Ends it before its time. */
  isOver?: () => boolean;
}

/** Open loop: starts operations at an even rate, however long each takes. Latencies in milliseconds from the intended start. */
export async function paced(operation: (index: number) => Promise<void>, { perSecond, seconds, isOver = () => false }: Pace): Promise<Sample> {
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  let errors = 0;
  const begin = performance.now();
  for (let index = 0; index < perSecond * seconds && !isOver(); index += 1) {
    const due = begin + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const one = operation(index).then(
      () => void latencies.push(performance.now() - due),
      () => void (errors += 1),
    );
    running.add(one);
    void one.finally(() => running.delete(one));
  }
  await Promise.all(running);
  return sampleOf(latencies, { took: (performance.now() - begin) / 1000, errors });
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
