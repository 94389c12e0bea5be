import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';

/** Any number, the same in every process that migrates. */
const migrationLock = 7_264_011;

/**
 * Brings a database to the newest schema. Several processes may call it at once: one applies, the others wait for it and
 * find nothing left. Each migration and its record are one transaction, so a crash in between repeats nothing.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'signalbox-migrate' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await applyMigrations(drizzle(client), { migrationsFolder: migrationsFolder() });
  } finally {
    await client.end();
  }
}

/** The SQL stands beside the sources; compiled code finds it from inside its own folder. */
function migrationsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    for (const candidate of [join(folder, 'migrations'), join(folder, 'libs', 'db', 'migrations')]) {
      if (existsSync(join(candidate, 'meta', '_journal.json'))) return candidate;
    }
    if (folder === dirname(folder)) throw new Error('the folder libs/db/migrations is missing');
  }
}
