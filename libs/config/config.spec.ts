import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { acceptsProcessorKind, ConfigError, configTable, databaseUrlOf, loadConfig } from './config.js';
import { developmentDatabasePassword, developmentSecretKey, developmentTokenKey } from './development-secrets.js';
import { variables } from './variables.js';

const key = () => randomBytes(32).toString('base64');

function environment(change: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  return {
    SIGNALBOX_ENV: 'production',
    DATABASE_URL: 'postgres://signalbox:drawn@127.0.0.1:5432/signalbox',
    SIGNALBOX_SECRET_KEYS: `k1:${key()}`,
    SIGNALBOX_TOKEN_KEY: key(),
    ...change,
  };
}

function problemsOf(change: Record<string, string | undefined>): string[] {
  try {
    loadConfig(environment(change));
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('adds the environment to the names of database and namespace', () => {
    const config = loadConfig(environment({ SIGNALBOX_ENV: 'staging', TEMPORAL_NAMESPACE: 'shop' }));
    expect(config.databaseUrl).toBe('postgres://signalbox:drawn@127.0.0.1:5432/signalbox_staging');
    expect(config.temporalNamespace).toBe('shop-staging');
  });

  it('keeps the options of the database URL', () => {
    expect(databaseUrlOf('postgres://h/shop?sslmode=require', 'production')).toBe('postgres://h/shop_production?sslmode=require');
    expect(databaseUrlOf('postgres://h', 'staging')).toBe('postgres://h/signalbox_staging');
  });

  it('builds the public URL from the address when none is given, and drops a trailing slash', () => {
    expect(loadConfig(environment({ API_PORT: '4711' })).publicUrl).toBe('http://127.0.0.1:4711');
    expect(loadConfig(environment({ PUBLIC_URL: 'https://pay.example.test/' })).publicUrl).toBe('https://pay.example.test');
  });

  it('looks unknown outcomes up by the published schedule, which a fault run in staging compresses', () => {
    const published = [5, 30, 120, 600, 3_600, 21_600, 86_400].map((seconds) => seconds * 1_000);
    expect(loadConfig(environment()).lookupOffsets).toEqual(published);
    expect(loadConfig(environment({ SIGNALBOX_ENV: 'staging', PAYMENT_LOOKUP_SCHEDULE: '0.5, 2' })).lookupOffsets).toEqual([500, 2_000]);
  });

  it('names every missing variable at once', () => {
    expect(problemsOf({ SIGNALBOX_ENV: undefined, DATABASE_URL: '' })).toEqual([
      expect.stringMatching(/^SIGNALBOX_ENV is missing/),
      expect.stringMatching(/^DATABASE_URL is missing/),
    ]);
  });

  it.each([
    ['SIGNALBOX_ENV', 'test'],
    ['DATABASE_URL', 'mysql://h/x'],
    ['DATABASE_POOL_SIZE', '0'],
    ['TEMPORAL_ADDRESS', 'temporal'],
    ['TEMPORAL_NAMESPACE', 'a b'],
    ['API_PORT', '70000'],
    ['API_PORT', '-1'],
    ['METRICS_PORT', 'x'],
    ['PUBLIC_URL', 'ftp://x'],
    ['SIGNALBOX_SECRET_KEYS', 'k1:c2hvcnQ='],
    ['SIGNALBOX_SECRET_KEYS', `k1:${key()},k1:${key()}`],
    ['SIGNALBOX_TOKEN_KEY', 'c2hvcnQ='],
    ['SIGNALBOX_LOCAL', 'yes'],
    ['SIGNALBOX_QUEUES', 'payments,other'],
    ['SIGNALBOX_QUEUES', ','],
    ['LOG_LEVEL', 'loud'],
    ['SMTP_URL', 'http://mail.example.com'],
    ['SMTP_FROM', 'not an address'],
    ['EMAIL_RETRY_SCHEDULE', '0'],
    ['PAYMENT_SLOTS', '1.5'],
    ['PAYMENT_LOOKUP_SCHEDULE', '5,5'],
    ['PAYMENT_LOOKUP_SCHEDULE', '0,5'],
    ['PAYMENT_LOOKUP_SCHEDULE', 'soon'],
  ])('refuses %s=%s and names it', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  it('never shows the value of a secret', () => {
    const problems = problemsOf({ SIGNALBOX_TOKEN_KEY: 'hush', SIGNALBOX_SECRET_KEYS: 'hush', DATABASE_URL: 'hush' });
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain('hush');
  });

  it('reads several keys, the first of which encrypts', () => {
    const [first, second] = [key(), key()];
    const config = loadConfig(environment({ SIGNALBOX_SECRET_KEYS: `new:${first}, old:${second}` }));
    expect(config.secretKeys.map(({ id, key: bytes }) => [id, bytes.toString('base64')])).toEqual([['new', first], ['old', second]]);
  });
});

describe('the e-mail server', () => {
  it('needs a URL and a sender, or neither', () => {
    expect(loadConfig(environment()).smtp).toBeNull();
    expect(problemsOf({ SMTP_URL: 'smtp://mail.example.com' })).toEqual([expect.stringMatching(/^SMTP_FROM /)]);
    expect(problemsOf({ SMTP_FROM: 'billing@example.com' })).toEqual([expect.stringMatching(/^SMTP_URL /)]);
  });

  it('is read from its URL', () => {
    const config = loadConfig(environment({ SMTP_URL: 'smtps://us%40er:p%2Fss@mail.example.com', SMTP_FROM: 'billing@example.com' }));
    expect(config.smtp).toEqual({
      host: 'mail.example.com', port: 465, secure: true, requireTls: false, user: 'us@er', password: 'p/ss', from: 'billing@example.com',
    });
    expect(loadConfig(environment({ SMTP_URL: 'smtp://[::1]:2525', SMTP_FROM: 'a@b.co' })).smtp).toMatchObject({ host: '::1', port: 2525, secure: false });
  });
});

describe('production', () => {
  it.each([
    ['SIMULATOR_URL', 'http://127.0.0.1:4102'],
    ['SIMULATOR_SECRET', key()],
    ['PAYMENT_LOOKUP_SCHEDULE', '1,2,3'],
    ['SIGNALBOX_SECRET_KEYS', `k1:${developmentSecretKey}`],
    ['SIGNALBOX_SECRET_KEYS', `k1:${key()},k0:${Buffer.alloc(32).toString('base64')}`],
    ['SIGNALBOX_TOKEN_KEY', developmentTokenKey],
    ['SIGNALBOX_TOKEN_KEY', Buffer.alloc(32, 'ab').toString('base64')],
    ['DATABASE_URL', `postgres://signalbox:${developmentDatabasePassword}@db/signalbox`],
  ])('refuses %s=%s, which staging takes', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
    expect(problemsOf({ [name]: value, SIGNALBOX_ENV: 'staging' })).toEqual([]);
  });

  it('accepts no simulator connection', () => {
    expect(acceptsProcessorKind('production', 'simulator')).toBe(false);
    expect(acceptsProcessorKind('production', 'stripe')).toBe(true);
    expect(acceptsProcessorKind('staging', 'simulator')).toBe(true);
  });
});

describe('configTable', () => {
  it('has one row for each variable, and the README carries it', () => {
    const table = configTable();
    for (const variable of Object.values(variables)) expect(table).toContain(`| \`${variable.name}\` |`);
    expect(readFileSync(new URL('README.md', import.meta.url), 'utf8')).toContain(table);
  });
});
