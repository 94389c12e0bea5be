import { openAccount, systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { createToken } from '../../libs/db/token.writes.js';
import type { Environment } from '../../libs/domain/environment.js';
import type { Role } from '../../libs/domain/role.js';
import { publicId } from '../../libs/views/ids.js';
import { shared } from './stack.js';

export interface Answer {
  status: number;
  headers: Headers;
  /** The body as it came. */
  text: string;
  /** The parsed body; undefined when it is empty or not JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export interface SendOptions {
  token?: string | null;
  key?: string;
  headers?: Record<string, string>;
  /** Sent as it is, instead of a JSON body. */
  raw?: string | Uint8Array;
}

/** Calls one API as one token. */
export class Client {
  constructor(readonly url: string, readonly token: string | null) {}

  async send(method: string, path: string, body?: unknown, options: SendOptions = {}): Promise<Answer> {
    const token = options.token === undefined ? this.token : options.token;
    const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      body: payload,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
        ...options.headers,
      },
    });
    const text = await textOf(response);
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }

  get(path: string, options?: SendOptions): Promise<Answer> {
    return this.send('GET', path, undefined, options);
  }

  post(path: string, body: unknown = {}, options?: SendOptions): Promise<Answer> {
    return this.send('POST', path, body, options);
  }

  put(path: string, body: unknown = {}, options?: SendOptions): Promise<Answer> {
    return this.send('PUT', path, body, options);
  }

  delete(path: string, body?: unknown, options?: SendOptions): Promise<Answer> {
    return this.send('DELETE', path, body, options);
  }

  as(token: string | null): Client {
    return new Client(this.url, token);
  }
}

/** A stream of events has no end: it is left at once. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  await response.body?.cancel();
  return '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface TestAccount {
  /** UUID. */
  id: string;
  publicId: string;
  admin: Client;
  operator: Client;
  readOnly: Client;
}

interface Installation {
  environment: Environment;
  apiUrl: string;
  databaseUrl: string;
  /** Base64, as the API gets it. */
  tokenKey: string;
}

/** An account of its own with a client per role, on the shared stack or the one given. */
export async function freshAccount(place: Environment | Installation = 'staging'): Promise<TestAccount> {
  const at = typeof place === 'string' ? sharedInstallation(place) : place;
  const database = connect(at.databaseUrl, { max: 1 });
  try {
    return await populate(database, at);
  } finally {
    await database.close();
  }
}

async function populate({ db }: Database, { environment, apiUrl, tokenKey: encodedKey }: Installation): Promise<TestAccount> {
  const tokenKey = Buffer.from(encodedKey, 'base64');
  const { account, token } = await openAccount(db, { environment, name: 'Test', tokenKey });
  const client = async (role: Role): Promise<Client> => {
    const change = systemChange(environment, account.id);
    const made = await transact(db, change, (tx) => createToken(tx, change, { id: newId(), name: role, role, tokenKey }));
    return new Client(apiUrl, made.token);
  };
  return {
    id: account.id,
    publicId: publicId('acct', environment, account.id),
    admin: new Client(apiUrl, token),
    operator: await client('OPERATOR'),
    readOnly: await client('READ_ONLY'),
  };
}

function sharedInstallation(environment: Environment): Installation {
  return environment === 'staging'
    ? { environment, apiUrl: shared.stagingUrl, databaseUrl: shared.databaseUrlStaging, tokenKey: shared.tokenKeyStaging }
    : { environment, apiUrl: shared.productionUrl, databaseUrl: shared.databaseUrlProduction, tokenKey: shared.tokenKeyProduction };
}
