import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { testCards } from '../../libs/processors/simulator/test-card.js';
import type { Breach } from './records.js';

/** Card numbers as they are typed, a CVC where its name stands before it, and what our tokens and signing secrets look like. */
const patterns: Record<string, string> = {
  'a card number': testCards.map(({ number }) => `${number}|${number.replace(/(\d{4})(?=\d)/g, '$1[ -]')}`).join('|'),
  'a CVC': '(?:cvc|cvv|security_code)["\'\\s:=\\\\]{1,8}739',
  'an API token': 'st_(?:stg|prod)_[0-9A-Za-z]{49}',
  'a signing secret': 'whsec_[A-Za-z0-9+/]{43}=',
};
const longestMark = 200;

/** Finds what must not be there: card data, and every secret of the run. */
export class SecretSearch {
  readonly breaches: Breach[] = [];
  readonly #patterns: Record<string, string>;
  readonly #any: RegExp;

  /** @param secrets by name; each is searched as it is written. */
  constructor(secrets: Record<string, string> = {}) {
    const literal = Object.entries(secrets).map(([name, text]) => [name, text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')]);
    this.#patterns = { ...patterns, ...Object.fromEntries(literal) };
    this.#any = new RegExp(Object.values(this.#patterns).join('|'));
  }

  /** @param place a file, table or answer, told with the breach. */
  search(text: string, place: string): void {
    if (!this.#any.test(text)) return;
    for (const [name, pattern] of Object.entries(this.#patterns)) if (new RegExp(pattern).test(text)) this.tell(name, place);
  }

  /** Also finds what lies across two pieces of a file. */
  async searchFile(path: string): Promise<void> {
    let before = '';
    for await (const piece of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
      this.search(before + (piece as string), path);
      before = (piece as string).slice(-longestMark);
    }
  }

  /** @returns how many files were searched. */
  async searchFolder(folder: string): Promise<number> {
    if (!existsSync(folder)) return 0;
    const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))).filter((path) => statSync(path).isFile());
    for (const file of files) await this.searchFile(file);
    return files.length;
  }

  /** Every row of every table, as a dump would show it. */
  async searchDatabase(client: pg.ClientBase): Promise<number> {
    const { rows } = await client.query<{ name: string }>('select tablename as name from pg_tables where schemaname = \'public\'');
    for (const { name } of rows) {
      const found = await client.query<{ row: string }>(`select t::text as row from "${name}" t where t::text ~ $1 limit 3`, [this.#any.source]);
      for (const { row } of found.rows) this.search(row, `table ${name}`);
    }
    return rows.length;
  }

  private tell(name: string, place: string): void {
    const what = `${name} is in the open`;
    if (this.breaches.some((breach) => breach.what === what && breach.ids[0] === place)) return;
    this.breaches.push({ rule: 9, what, ids: [place] });
  }
}
