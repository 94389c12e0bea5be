import type { Command } from 'commander';
import { CommandFailed } from '../command-failed.js';
import { installationHome } from '../folders.js';
import { ownerOf } from '../stack/lock.js';
import { isAlive, signal, waitUntil } from '../stack/process.js';

const patienceMs = 120_000;

export function stopCommand(program: Command): void {
  program
    .command('stop')
    .description('stops the installation of this folder, however it was started')
    .action(stop);
}

async function stop(): Promise<void> {
  const home = installationHome();
  const owner = ownerOf(home.file('lock'));
  if (owner !== null && isAlive(owner)) {
    signal(owner, 'SIGTERM');
    if (!(await waitUntil(() => !isAlive(owner), patienceMs, 100))) throw new CommandFailed(`Process ${owner.pid} does not stop.`);
    console.log('Stopped.');
    return;
  }
  const lock = home.children().length > 0 ? home.lock() : null;
  if (lock === null || 'heldBy' in lock) {
    console.log('Nothing runs here.');
    return;
  }
  const ended = await home.endSurvivors(30_000);
  home.retract();
  lock.release();
  console.log(ended.length > 0 ? `Stopped what was left: ${ended.join(', ')}.` : 'Nothing runs here.');
}
