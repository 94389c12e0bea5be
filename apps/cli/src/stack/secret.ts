import { randomBytes } from 'node:crypto';
import { readJson, writeJson } from './file.js';
import type { Home } from './home.js';

export type EnvironmentName = 'staging' | 'production';
export const environmentNames = ['production', 'staging'] as const;

/** Drawn once per installation; each environment has its own. */
export interface Secrets {
  postgresPassword: string;
  keys: Record<EnvironmentName, { secretKeys: string; tokenKey: string }>;
}

export function secretsOf(home: Home): Secrets {
  const path = home.file('secrets.json');
  const known = readJson<Secrets>(path);
  if (known !== null) return known;
  const draw = () => randomBytes(32).toString('base64');
  const keys = () => ({ secretKeys: `k1:${draw()}`, tokenKey: draw() });
  const secrets = { postgresPassword: randomBytes(24).toString('base64url'), keys: { production: keys(), staging: keys() } };
  writeJson(path, secrets);
  return secrets;
}
