import pg from 'pg';

/** Statements with lists of varying length have many texts: those beyond this number are planned each time. */
const mostPrepared = 400;
const names = new Map<string, string>();
let sent = 0;

/** How many statements this process has sent, those that begin and end transactions included. */
export function statementsSent(): number {
  return sent;
}

/** Of a query object that carries several: those beyond the first. */
export function countStatements(more: number): void {
  sent += more;
}

/**
 * Prepares every statement with parameters once per connection: Postgres then parses it once and soon reuses its plan, which is most of
 * what a short statement costs. A pooler in transaction mode must know prepared statements (PgBouncer from 1.21).
 */
export class PreparedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((config: unknown, values: unknown, callback: unknown) => {
      sent += 1;
      return query(named(config, values), values, callback);
    }) as typeof this.query;
  }
}

interface Statement {
  text: string;
  name?: string;
}

function named(config: unknown, values: unknown): unknown {
  if (!isStatement(config) || config.name || !Array.isArray(values) || values.length === 0) return config;
  const name = nameOf(config.text);
  return name ? { ...config, name } : config;
}

/** Only plain statements: a query object of its own class (a cursor, a copy) stays what it is. */
function isStatement(config: unknown): config is Statement {
  return typeof config === 'object' && config !== null && Object.getPrototypeOf(config) === Object.prototype && typeof (config as Statement).text === 'string';
}

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= mostPrepared) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}
