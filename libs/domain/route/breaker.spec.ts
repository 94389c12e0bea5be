import fc from 'fast-check';
import { outcomeClasses, type OutcomeClass } from '../payment/outcome.js';
import { Breaker, breakerDefaults as settings } from './breaker.js';

const bad: OutcomeClass[] = ['not_sent', 'processor_error', 'unknown'];
const good = outcomeClasses.filter((each) => !bad.includes(each));

function call(breaker: Breaker, outcomeClass: OutcomeClass, { at, ms = 10 }: { at: number; ms?: number }): void {
  breaker.end(breaker.begin(at), outcomeClass, at + ms);
}

function opened(at = 0): Breaker {
  const breaker = new Breaker(settings);
  for (let index = 0; index < settings.minSamples; index += 1) call(breaker, 'processor_error', { at });
  expect(breaker.isOpen).toBe(true);
  return breaker;
}

describe('a closed breaker', () => {
  it('opens for no outcome that says the connection works, however many', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...good), { minLength: 1, maxLength: 120 }), (outcomes) => {
        const breaker = new Breaker(settings);
        outcomes.forEach((outcomeClass, index) => call(breaker, outcomeClass, { at: index * 100 }));
        expect(breaker.isOpen).toBe(false);
      }),
    );
  });

  it('opens exactly when enough of the latest calls were bad', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 150 }), (outcomes) => {
        const breaker = new Breaker(settings);
        const latest: boolean[] = [];
        outcomes.forEach((isBad, index) => {
          if (breaker.isOpen) return;
          call(breaker, isBad ? 'unknown' : 'approved', { at: index * 100 });
          latest.push(isBad);
          const window = latest.slice(-settings.calls);
          const share = window.filter(Boolean).length / window.length;
          expect(breaker.isOpen).toBe(window.length >= settings.minSamples && share >= settings.badShare);
        });
      }),
    );
  });

  it('forgets calls that are older than its window', () => {
    const breaker = new Breaker(settings);
    for (let index = 1; index < settings.minSamples; index += 1) call(breaker, 'not_sent', { at: index });
    call(breaker, 'not_sent', { at: settings.windowMs + 100 });
    expect(breaker.isOpen).toBe(false);
    expect(breaker.count(settings.windowMs + 200)).toEqual({ samples: 1, bad: 1 });
  });

  it('counts a call that took too long, whatever it answered', () => {
    const breaker = new Breaker(settings);
    for (let index = 0; index < settings.minSamples; index += 1) call(breaker, 'approved', { at: index, ms: settings.slowMs });
    expect(breaker.isOpen).toBe(true);
  });

  it('opens for calls that hang before any of them has come back', () => {
    const breaker = new Breaker(settings);
    for (let index = 0; index < 100; index += 1) call(breaker, 'approved', { at: index });
    for (let index = 0; index < settings.calls; index += 1) breaker.begin(1_000 + index * 100);
    breaker.judge(1_000 + settings.slowMs);
    expect(breaker.isOpen).toBe(false);
    breaker.judge(1_000 + settings.slowMs + 2_500);
    expect(breaker.isOpen).toBe(true);
    expect(breaker.openedBy).toEqual({ samples: settings.calls, bad: 26 });
  });
});

describe('an open breaker', () => {
  it('rests, then lets a small share through, one at a time', () => {
    const breaker = opened();
    const rested = 10 + settings.restMs;
    let probes = 0;
    for (let index = 0; index < 1_000; index += 1) {
      const at = index < 100 ? 20 : rested + index;
      if (!breaker.isProbeDue(at)) breaker.passBy();
      else {
        expect(at).toBeGreaterThanOrEqual(rested);
        probes += 1;
        const probe = breaker.begin(at);
        expect(breaker.isProbeDue(at)).toBe(false);
        breaker.end(probe, 'unknown', at);
        expect(breaker.isProbeDue(at)).toBe(false);
      }
    }
    expect(probes).toBeGreaterThan(0);
    expect(probes).toBeLessThanOrEqual(1_000 * settings.probeShare);
  });

  it('probes after a while also where hardly any payment comes', () => {
    const breaker = opened();
    expect(breaker.isProbeDue(settings.restMs * 2)).toBe(false);
    expect(breaker.isProbeDue(settings.restMs * 13)).toBe(true);
  });

  it('closes after good probes in a row, and then counts anew', () => {
    const breaker = opened();
    call(breaker, 'approved', { at: 100 });
    call(breaker, 'soft_decline', { at: 200 });
    call(breaker, 'not_sent', { at: 300 });
    for (let index = 0; index < settings.probes; index += 1) {
      expect(breaker.isOpen).toBe(true);
      call(breaker, 'approved', { at: 400 + index });
    }
    expect(breaker.isOpen).toBe(false);
    expect(breaker.count(1_000)).toEqual({ samples: 0, bad: 0 });
  });

  it('takes a probe that hangs for a bad one, so that the next one comes', () => {
    const breaker = opened();
    const hanging = breaker.begin(100);
    breaker.judge(100 + settings.slowMs);
    for (let index = 0; index < 1 / settings.probeShare; index += 1) breaker.passBy();
    expect(breaker.isProbeDue(100 + settings.slowMs + settings.restMs)).toBe(true);
    for (let index = 0; index < settings.probes; index += 1) breaker.end(hanging, 'approved', 20_000);
    expect(breaker.isOpen).toBe(true);
  });

  it('learns nothing from calls that began before it opened', () => {
    const breaker = new Breaker(settings);
    const early = Array.from({ length: settings.probes }, () => breaker.begin(0));
    for (let index = 0; index < settings.minSamples; index += 1) call(breaker, 'unknown', { at: 1 });
    expect(breaker.isOpen).toBe(true);
    for (const each of early) breaker.end(each, 'approved', 50);
    expect(breaker.isOpen).toBe(true);
  });
});

describe('whatever happens', () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 6_000 }),
    what: fc.oneof(fc.constantFrom(...outcomeClasses), fc.constant('begin' as const), fc.constant('pass' as const)),
  });

  it('it is opened only by at least the least number of calls, and closed only by good probes in a row', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const breaker = new Breaker(settings);
        const running: ReturnType<Breaker['begin']>[] = [];
        let now = 0;
        let goodInRow = 0;
        for (const { wait, what } of steps) {
          now += wait;
          breaker.judge(now);
          const wasOpen = breaker.isOpen;
          if (what === 'begin') running.push(breaker.begin(now));
          else if (what === 'pass') breaker.passBy();
          else {
            const ended = running.shift() ?? breaker.begin(now);
            breaker.end(ended, what, now);
            const counts = wasOpen && ended.probe && now - ended.at < settings.slowMs;
            goodInRow = counts ? (good.includes(what) ? goodInRow + 1 : 0) : goodInRow;
          }
          if (!wasOpen && breaker.isOpen) {
            goodInRow = 0;
            expect(breaker.openedBy!.samples).toBeGreaterThanOrEqual(settings.minSamples);
            expect(breaker.openedBy!.bad).toBeGreaterThanOrEqual(breaker.openedBy!.samples * settings.badShare);
          }
          if (wasOpen && !breaker.isOpen) expect(goodInRow).toBeGreaterThanOrEqual(settings.probes);
        }
      }),
      { numRuns: 300 },
    );
  });
});
