import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './stack/file.js';

/** Where the worker finds the bundled workflows, inside the compiled folder. */
export function workflowBundlePath(dist: string): string {
  return join(dist, 'workflow-bundles', 'workflows.js');
}

/** Bundles the compiled `workflows/index.js` for the worker's sandbox, unless nothing that it can reach has changed. True if it did. */
export async function buildWorkflowBundle(dist: string): Promise<boolean> {
  const target = workflowBundlePath(dist);
  const stamp = `${target}.stamp`;
  const digest = digestOf(['workflows', 'libs', 'activities'].map((folder) => join(dist, folder)));
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return false;
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({ workflowsPath: join(dist, 'workflows', 'index.js'), logger: new DefaultLogger('WARN') });
  mkdirSync(join(dist, 'workflow-bundles'), { recursive: true });
  writeWhole(target, code, 0o644);
  writeWhole(stamp, digest, 0o644);
  return true;
}

function digestOf(folders: string[]): string {
  const hash = createHash('sha256');
  for (const file of folders.flatMap(filesOf).sort()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesOf(path) : path.endsWith('.js') ? [path] : [];
  });
}
