import { randomBytes } from 'node:crypto';
import { readJson, writeJson } from './file.js';
import type { Home } from './home.js';

export type EnvironmentName = 'staging' | 'production';
export const environmentNames = ['production', 'staging'] as const;

/** Drawn once per installation; each environment has its own. */
export interface Secrets {
  postgresPassword: string;
  /** Shared by the simulator and by what it calls back. */
  simulatorSecret: string;
  keys: Record<EnvironmentName, { secretKeys: string; tokenKey: string }>;
}

export function secretsOf(home: Home): Secrets {
  const path = home.file('secrets.json');
  const known = readJson<Secrets>(path);
  if (known?.simulatorSecret) return known;
  const draw = () => randomBytes(32).toString('base64');
  const keys = () => ({ secretKeys: `k1:${draw()}`, tokenKey: draw() });
  const fresh = { postgresPassword: randomBytes(24).toString('base64url'), simulatorSecret: draw(), keys: { production: keys(), staging: keys() } };
  const secrets = { ...fresh, ...known };
  writeJson(path, secrets);
  return secrets;
}
