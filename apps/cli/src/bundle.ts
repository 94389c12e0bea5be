import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from './stack/file.js';

export type App = 'api' | 'worker' | 'simulator';

const apps: readonly App[] = ['api', 'worker', 'simulator'];

/** Where the worker finds the bundled workflows, inside the compiled folder. */
export function workflowBundlePath(dist: string): string {
  return join(dist, 'workflow-bundles', 'workflows.js');
}

/** One file with all that an app loads at its start: a third of the time of a thousand. It stands beside the app's `main.js`. */
export function appBundlePath(dist: string, app: App): string {
  return join(dist, 'apps', app, 'src', 'main.bundle.js');
}

/**
 * Bundles the compiled `workflows/index.js` for the worker's sandbox, unless nothing that it can reach has changed. True if it did.
 * Its modules are loaded once per sandbox and frozen, not once per workflow: none of them may keep state.
 */
export async function buildWorkflowBundle(dist: string): Promise<boolean> {
  return unlessFresh(workflowBundlePath(dist), ['workflows', 'libs', 'activities'].map((folder) => join(dist, folder)), async () => {
    const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
    const workflowsPath = join(dist, 'workflows', 'index.js');
    return (await bundleWorkflowCode({ workflowsPath, preloadModules: [workflowsPath], logger: new DefaultLogger('WARN') })).code;
  });
}

/** Bundles the compiled apps that are there, unless nothing that they can reach has changed. */
export async function buildAppBundles(dist: string): Promise<void> {
  const shared = ['activities', 'libs', 'apps/checkout'];
  for (const app of apps) {
    const folder = join('apps', app, 'src');
    if (existsSync(join(dist, folder, 'main.js'))) await unlessFresh(appBundlePath(dist, app), [...shared, folder].map((each) => join(dist, each)), () => bundled(dist, app));
  }
}

/** Packages with binaries or files of their own, and those that Nest asks for in vain. */
const leftOut = [
  '@temporalio/*', '@fastify/*', '@scalar/*', 'pino', 'pg-native', '@nestjs/microservices', '@nestjs/websockets', '@nestjs/platform-express', 'class-validator', 'class-transformer',
];

/** What code written for `require` expects to find in a module. */
const requireInModule = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join(' ');

async function bundled(dist: string, app: App): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(dist, 'apps', app, 'src', 'main.js')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    keepNames: true,
    legalComments: 'none',
    external: leftOut,
    banner: { js: requireInModule },
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

async function unlessFresh(target: string, folders: string[], make: () => Promise<string>): Promise<boolean> {
  const stamp = `${target}.stamp`;
  const digest = digestOf(folders);
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return false;
  mkdirSync(dirname(target), { recursive: true });
  writeWhole(target, await make(), 0o644);
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
    return statSync(path).isDirectory() ? filesOf(path) : path.endsWith('.js') && !path.endsWith('.bundle.js') ? [path] : [];
  });
}
