import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Home } from './stack/home.js';

/** The folder with the compiled code that this file is part of. */
export const distFolder = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** `SIGNALBOX_HOME`, else `.signalbox` in the project. */
export function installationHome(): Home {
  return new Home(process.env.SIGNALBOX_HOME || join(dirname(distFolder), '.signalbox'));
}
