import type { Command } from 'commander';
import { adminToken } from '../admin-token.js';
import { CommandFailed } from '../command-failed.js';
import { distFolder, installationHome } from '../folders.js';
import { LogTail } from '../log-tail.js';
import { StopRequest } from '../stop-request.js';
import type { Home, Ready, ReadyEnvironment } from '../stack/home.js';
import { StartError } from '../stack/child.js';
import { ownerOf } from '../stack/lock.js';
import { isAlive, waitUntil } from '../stack/process.js';
import { environmentNames, HomeInUse, startStack, type EnvironmentName, type Stack } from '../stack/stack.js';
import { environmentOption } from '../target.js';

export function startCommand(program: Command): void {
  program
    .command('start')
    .description('runs everything on this machine until it is stopped')
    .addOption(environmentOption('only this environment'))
    .action(({ env }: { env?: EnvironmentName }) => start(env === undefined ? environmentNames : [env]));
}

const say = (line: string) => process.stderr.write(`· ${line}\n`);

async function start(environments: readonly EnvironmentName[]): Promise<void> {
  const home = installationHome();
  const request = new StopRequest();
  const since = performance.now();
  try {
    const stack = await startOrShow(home, environments, request);
    if (stack === null) return;
    await serve(stack, { environments, request, since });
  } catch (error) {
    if (request.made) return;
    if (error instanceof StartError) throw new CommandFailed(`${error.message}\n${new LogTail(home).lastLines(error.part)}`);
    throw error;
  } finally {
    request.dispose();
  }
}

/** Starts, or shows where the installation of this folder runs already: then null. */
async function startOrShow(home: Home, environments: readonly EnvironmentName[], request: StopRequest): Promise<Stack | null> {
  for (;;) {
    try {
      return await startStack({ home: home.path, dist: distFolder, environments, progress: say, supervised: true, abort: request.signal });
    } catch (error) {
      if (!(error instanceof HomeInUse)) throw error;
    }
    const ready = await readyOfOther(home);
    if (ready !== null) {
      console.log(`Runs already (process ${ready.pid}).\n${description(home, ready)}`);
      return null;
    }
  }
}

/** Waits for the first start of this folder; null if it ended meanwhile. */
async function readyOfOther(home: Home): Promise<Ready | null> {
  const owner = ownerOf(home.file('lock'));
  if (owner === null) return null;
  const isReady = () => home.ready()?.pid === owner.pid;
  if (!isReady()) say(`process ${owner.pid} is starting in this folder`);
  await waitUntil(() => isReady() || !isAlive(owner), 300_000, 100);
  return isReady() ? home.ready() : null;
}

interface Serving {
  environments: readonly EnvironmentName[];
  request: StopRequest;
  since: number;
}

async function serve(stack: Stack, { environments, request, since }: Serving): Promise<void> {
  const { home } = stack;
  const tail = new LogTail(home);
  try {
    const ready: Ready = { pid: process.pid, temporal: { address: stack.temporalAddress, ui: stack.temporalUi } };
    for (const environment of environments) ready[environment] = await readyEnvironment(stack, environment);
    if (!request.made) home.announce(ready);
    console.log(`Started in ${((performance.now() - since) / 1000).toFixed(1)} s.\n${description(home, ready)}`);
    tail.follow(stack.children().map(({ name }) => name));
    await request.promise;
    say('stopping');
  } finally {
    tail.close();
    await stack.stop();
    say('stopped');
  }
}

async function readyEnvironment(stack: Stack, environment: EnvironmentName): Promise<ReadyEnvironment> {
  const tokenKey = Buffer.from(stack.secrets.keys[environment].tokenKey, 'base64');
  const token = await adminToken(stack.home, { environment, databaseUrl: stack.databaseUrl(environment), tokenKey });
  const api = stack.apiUrl(environment);
  return { api, docs: `${api}/docs`, token };
}

function description(home: Home, ready: Ready): string {
  const environments = environmentNames.flatMap((name) => {
    const one = ready[name];
    return one === undefined ? [] : [`  ${name.padEnd(12)}${one.api}`, `  ${' '.repeat(12)}reference  ${one.docs}`, `  ${' '.repeat(12)}ADMIN      ${one.token}`];
  });
  const ui = ready.temporal.ui === null ? ready.temporal.address : ready.temporal.ui;
  return ['', ...environments, `  ${'Temporal'.padEnd(12)}${ui}`, `  ${'data'.padEnd(12)}${home.path}`, '', '  See it work: npm run cli -- tour    Stop: Ctrl-C, or npm run cli -- stop', ''].join('\n');
}
