import type { Command } from 'commander';
import { buildAppBundles, buildWorkflowBundle } from '../bundle.js';
import { distFolder } from '../folders.js';

export function bundleCommand(program: Command): void {
  program
    .command('bundle', { hidden: true })
    .description('bundles the compiled workflows for the worker, and each app for a quick start')
    .argument('[dist]', 'folder with the compiled code', distFolder)
    .action(async (dist: string) => {
      await buildWorkflowBundle(dist);
      await buildAppBundles(dist);
    });
}
