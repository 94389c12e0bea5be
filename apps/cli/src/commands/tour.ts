import type { Command } from 'commander';
import { CommandFailed } from '../command-failed.js';
import { installationHome } from '../folders.js';
import { tour, TourFailed } from '../tour/tour.js';

export function tourCommand(program: Command): void {
  program
    .command('tour')
    .description('walks a customer\'s whole journey in the running staging environment and prints each call')
    .action(async () => {
      const staging = installationHome().ready()?.staging;
      if (staging === undefined) throw new CommandFailed('Staging does not run here. Start it with `npm start`.');
      try {
        const calls = await tour({ base: staging.api, token: staging.token, print: (line) => console.log(line) });
        console.log(`\nThe whole journey: ${calls} calls, all as promised.`);
      } catch (error) {
        throw error instanceof TourFailed ? new CommandFailed(error.message) : error;
      }
    });
}
