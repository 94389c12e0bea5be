import { asyncLocalStorage } from '@temporalio/activity';
import type { ActivityInterceptorsFactory, NativeConnection } from '@temporalio/worker';

/**
 * Once an activity has begun, Node 20 follows the context of every promise of the process for good, a sixth of what a delivery costs. Our
 * activities read theirs before they first wait, so it is dropped there; none of them calls Temporal by the worker's own connection.
 */
export function dropContext({ callContextStorage }: Pick<NativeConnection, 'callContextStorage'>): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      execute(input, next) {
        try {
          return next(input);
        } finally {
          asyncLocalStorage.disable();
          callContextStorage.disable();
        }
      },
    },
  });
}
