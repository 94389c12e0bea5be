import { isDevelopmentKey, isDevelopmentPassword } from './development-secrets.js';
import { defaultLookupSchedule, variables, type Values, type Variable } from './variables.js';

/** What a process runs with. Built once by `loadConfig`; nothing else reads `process.env`. */
export interface Config extends Omit<Values, 'publicUrlText' | 'smtpUrl' | 'smtpFrom'> {
  /** Full URL of this environment's own database. */
  databaseUrl: string;
  /** Namespace of this environment. */
  temporalNamespace: string;
  /** Base URL without a trailing slash. */
  publicUrl: string;
  /** Where processes of the same machine reach this environment's API: without a trailing slash. */
  localUrl: string;
  /** Where e-mail goes; null: none is sent. */
  smtp: { host: string; port: number; secure: boolean; requireTls: boolean; user: string | null; password: string | null; from: string } | null;
  /** The `BREAKER_…` variables, shares from 0 to 1. */
  breaker: { calls: number; windowMs: number; minSamples: number; badShare: number; slowMs: number; restMs: number; probeShare: number };
}

/** Says which variables are wrong and why; never shows a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: string[]) {
    super(`Configuration refused:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/** Parses the environment. Throws `ConfigError` that lists every offending variable at once. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const read: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(variables) as [string, Variable<unknown>][]) {
    const text = env[variable.name] === undefined || env[variable.name] === '' ? variable.defaultText : env[variable.name];
    if (text === null || text === undefined) {
      problems.push(`${variable.name} is missing (${variable.type}): ${variable.meaning}`);
      continue;
    }
    const parsed = variable.schema.safeParse(text);
    if (parsed.success) read[key] = parsed.data;
    else problems.push(`${variable.name} ${parsed.error.issues[0]?.message ?? 'is invalid'}${variable.secret ? '' : ` (it is "${text}")`}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const values = read as unknown as Values;
  const missing = values.smtpUrl && !values.smtpFrom ? variables.smtpFrom : values.smtpFrom && !values.smtpUrl ? variables.smtpUrl : null;
  if (missing) throw new ConfigError([`${missing.name} is missing: e-mail needs both ${variables.smtpUrl.name} and ${variables.smtpFrom.name}`]);
  const refused = values.environment === 'production' ? refusedInProduction(values) : [];
  if (refused.length > 0) throw new ConfigError(refused);
  return derive(values);
}

function breakerOf(values: Values): Config['breaker'] {
  return {
    calls: Math.max(values.breakerCalls, values.breakerMinSamples),
    windowMs: values.breakerWindowSeconds * 1_000,
    minSamples: values.breakerMinSamples,
    badShare: values.breakerBadPercent / 100,
    slowMs: values.breakerSlowMs,
    restMs: values.breakerRestSeconds * 1_000,
    probeShare: values.breakerProbePercent / 100,
  };
}

const anyAddress = new Set(['0.0.0.0', '::', 'localhost']);

const ownMachine = new Set(['127.0.0.1', '[::1]', 'localhost']);

function smtpOf({ smtpUrl: url, smtpFrom: from, environment }: Values): Config['smtp'] {
  if (!url || !from) return null;
  const secure = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTls: !secure && environment === 'production' && !ownMachine.has(url.hostname),
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.password === '' ? null : decodeURIComponent(url.password),
    from,
  };
}

function derive(all: Values): Config {
  const { publicUrlText, smtpUrl: _url, smtpFrom: _from, ...values } = all;
  return {
    ...values,
    breaker: breakerOf(all),
    smtp: smtpOf(all),
    databaseUrl: databaseUrlOf(values.databaseBaseUrl, values.environment),
    temporalNamespace: `${values.temporalNamespaceBase}-${values.environment}`,
    localUrl: `http://${anyAddress.has(values.apiHost) ? '127.0.0.1' : values.apiHost}:${values.apiPort}`,
    publicUrl: (publicUrlText ?? `http://${values.apiHost}:${values.apiPort}`).replace(/\/+$/, ''),
  };
}

/** `postgres://h/signalbox` → `postgres://h/signalbox_staging`; a base without a name is called signalbox. */
export function databaseUrlOf(base: string, environment: Values['environment']): string {
  const url = new URL(base);
  const name = url.pathname.replace(/^\//, '') || 'signalbox';
  url.pathname = `/${name}_${environment}`;
  return url.toString();
}

function refusedInProduction(values: Values): string[] {
  const refused: string[] = [];
  if (values.simulatorUrl !== null) refused.push(`${variables.simulatorUrl.name} is set: production never talks to the simulator`);
  if (values.simulatorSecret !== null) refused.push(`${variables.simulatorSecret.name} is set: production never talks to the simulator`);
  if (values.secretKeys.some(({ key }) => isDevelopmentKey(key.toString('base64')))) {
    refused.push(`${variables.secretKeys.name} holds a development key: draw one with \`openssl rand -base64 32\``);
  }
  if (isDevelopmentKey(values.tokenKey.toString('base64'))) {
    refused.push(`${variables.tokenKey.name} is a development key: draw one with \`openssl rand -base64 32\``);
  }
  if (isDevelopmentPassword(decodeURIComponent(new URL(values.databaseBaseUrl).password))) {
    refused.push(`${variables.databaseBaseUrl.name} carries a development password`);
  }
  const schedule = values.lookupOffsets.map((offset) => offset / 1_000).join();
  if (schedule !== defaultLookupSchedule) refused.push(`${variables.lookupOffsets.name} is ${schedule}: only fault runs of staging compress it`);
  return refused;
}

/** The kinds of processor connection that an environment accepts: the simulator belongs to staging. */
export function acceptsProcessorKind(environment: Values['environment'], kind: string): boolean {
  return environment === 'staging' || kind !== 'simulator';
}

/** The table of all variables in Markdown. */
export function configTable(): string {
  const rows = (Object.values(variables) as Variable<unknown>[]).map((variable) => {
    const standard = variable.defaultText === null ? 'required' : variable.defaultText === '' ? 'empty' : `\`${variable.defaultText}\``;
    return `| \`${variable.name}\` | ${variable.type.replaceAll('|', '\\|')} | ${standard} | ${variable.meaning.replaceAll('|', '\\|')} |`;
  });
  return ['| variable | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}
