import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Asset {
  /** Carries a hash of the content: a browser may keep it for ever. */
  name: string;
  type: string;
  body: string;
}

function load(file: string, type: string): Asset {
  const body = readFileSync(join(folder(), file), 'utf8');
  const extension = extname(file);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { name: `${file.slice(0, -extension.length)}.${hash}${extension}`, type, body };
}

/** The files stand beside the sources; compiled code finds them from inside its own folder. */
function folder(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    for (const candidate of [join(at, 'assets'), join(at, 'apps', 'checkout', 'assets')]) {
      if (existsSync(join(candidate, 'page.css'))) return candidate;
    }
    if (at === dirname(at)) throw new Error('the folder apps/checkout/assets is missing');
  }
}

export const assets = {
  stylesheet: load('page.css', 'text/css; charset=utf-8'),
  script: load('page.js', 'text/javascript; charset=utf-8'),
  icon: load('icon.svg', 'image/svg+xml'),
} as const;

const byName = new Map<string, Asset>(Object.values(assets).map((asset) => [asset.name, asset]));

export function findAsset(name: string): Asset | null {
  return byName.get(name) ?? null;
}
