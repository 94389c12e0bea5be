import Sequencer from '@jest/test-sequencer';

/** Specs that run for minutes begin first, so that nothing waits for them at the end. */
const longest = ['test/faults/faults', 'test/faults/kills.spec', 'test/stack/start', 'test/subscriptions/renewals', 'test/subscriptions/silent', 'test/processors/stripe.crash', 'test/payments/crashes', 'test/operators/restore', 'test/callbacks/crashes'];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = longest.findIndex((part) => path.includes(part));
      return index < 0 ? longest.length : index;
    };
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
}
