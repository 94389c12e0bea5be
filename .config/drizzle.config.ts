import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './libs/db/schema/index.ts',
  out: './libs/db/migrations',
  casing: 'snake_case',
});
