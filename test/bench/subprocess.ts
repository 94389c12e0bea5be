import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Subprocess {
  url: string;
  ask<T>(message: string): Promise<T>;
  stop(): void;
}

/** Forks a module of this folder; answers once it has told its address. Ends with the parent. */
export async function startSubprocess(name: string, env: NodeJS.ProcessEnv): Promise<Subprocess> {
  const child: ChildProcess = fork(fileURLToPath(new URL(`./${name}.process.js`, import.meta.url)), { env: { ...process.env, ...env } });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} ended with ${String(code)}`);
  });
  failed.catch(() => undefined);
  const [told] = (await Promise.race([once(child, 'message'), failed])) as [{ url: string }];
  return {
    url: told.url,
    ask: async <T>(message: string) => {
      const answer = once(child, 'message');
      child.send(message);
      const [{ report }] = (await answer) as [{ report: T }];
      return report;
    },
    stop: () => child.disconnect(),
  };
}
