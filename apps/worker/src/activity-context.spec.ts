import { AsyncLocalStorage } from 'node:async_hooks';
import { asyncLocalStorage, Context } from '@temporalio/activity';
import type { CallContext } from '@temporalio/client/lib/types.js';
import { dropContext } from './activity-context.js';

describe('the context of an activity', () => {
  const callContextStorage = new AsyncLocalStorage<CallContext>();
  const context = { info: { isLocal: true } } as Context;
  const execute = dropContext({ callContextStorage })(context).inbound!.execute!;
  const run = <T>(work: () => Promise<T>) =>
    callContextStorage.run({}, () => asyncLocalStorage.run(context, () => execute({ args: [], headers: {} }, work))) as Promise<T>;

  it('is there until the activity waits, and nothing follows promises after that', async () => {
    const seen = await run(async () => {
      const before = [Context.current(), callContextStorage.getStore()];
      await Promise.resolve();
      return { before, after: [asyncLocalStorage.getStore(), callContextStorage.getStore()] };
    });
    expect(seen).toEqual({ before: [context, {}], after: [undefined, undefined] });
  });

  it('is dropped where the activity fails', async () => {
    await expect(run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(() => run(() => { throw new Error('at once'); })).toThrow('at once');
    expect(asyncLocalStorage.getStore()).toBeUndefined();
  });

  it('is there again for the next one', async () => {
    await run(async () => undefined);
    await expect(run(async () => Context.current())).resolves.toBe(context);
  });
});
