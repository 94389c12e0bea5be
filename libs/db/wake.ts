import pg from 'pg';

const channel = 'signalbox_deliveries';
const shortestGapMs = 25;
const retryMs = 1_000;

/** Tells the dispatchers that deliveries are due; coalesced by the sender that the process installs at start. */
let send: () => void = () => undefined;

export function onWakeRequested(sender: () => void): void {
  send = sender;
}

export function requestWake(): void {
  send();
}

export interface WakeChannel {
  close(): Promise<void>;
}

export interface WakeOptions {
  databaseUrl: string;
  onError?: (error: Error) => void;
}

/**
 * Installs this process' sender: after a commit one NOTIFY on a connection of its own, at most 40 a second however many
 * are asked for. While the connection is away requests are dropped: the wakers' poll finds the rows.
 */
export function openWakeSender({ databaseUrl, onError }: WakeOptions): WakeChannel {
  const line = keepConnected(databaseUrl, { name: 'signalbox-notify', onError });
  let timer: NodeJS.Timeout | null = null;
  let sentAt = 0;
  const flush = (): void => {
    timer = null;
    sentAt = performance.now();
    line.client()?.query(`notify ${channel}`).catch(() => undefined);
  };
  onWakeRequested(() => {
    if (timer) return;
    timer = setTimeout(flush, Math.max(0, sentAt + shortestGapMs - performance.now()));
    timer.unref();
  });
  return {
    async close() {
      onWakeRequested(() => undefined);
      if (timer) {
        clearTimeout(timer);
        await line.client()?.query(`notify ${channel}`).catch(() => undefined);
      }
      await line.close();
    },
  };
}

const ears = new Set<Line>();
let heard = 0;
const waiting = new Set<() => void>();

/** How many times this process was told that deliveries are due; null while it does not listen, and has to look by itself. */
export function wakesHeard(): number | null {
  for (const line of ears) if (line.client()) return heard;
  return null;
}

/** Calls back when this process is told next that deliveries are due; the result ends the wait. */
export function onceWoken(callback: () => void): () => void {
  waiting.add(callback);
  return () => void waiting.delete(callback);
}

/** Calls `onWake` for every NOTIFY of any process, and once after each (re)connection, because some may have been missed. */
export function openWakeListener({ databaseUrl, onError, onWake }: WakeOptions & { onWake: () => void }): WakeChannel {
  const hear = (): void => {
    heard += 1;
    for (const callback of waiting) callback();
    waiting.clear();
    onWake();
  };
  const line = keepConnected(databaseUrl, {
    name: 'signalbox-listen',
    onError,
    async prepare(client) {
      client.on('notification', hear);
      await client.query(`listen ${channel}`);
      hear();
    },
  });
  ears.add(line);
  return {
    close() {
      ears.delete(line);
      return line.close();
    },
  };
}

interface LineOptions {
  name: string;
  onError?: (error: Error) => void;
  prepare?: (client: pg.Client) => Promise<void>;
}

interface Line extends WakeChannel {
  /** The live connection, or null while there is none. */
  client(): pg.Client | null;
}

function keepConnected(url: string, { name, onError, prepare }: LineOptions): Line {
  let live: pg.Client | null = null;
  let closed = false;
  let retry: NodeJS.Timeout | null = null;

  const dial = async (): Promise<void> => {
    retry = null;
    const client = new pg.Client({ connectionString: url, application_name: name, connectionTimeoutMillis: 5_000, keepAlive: true });
    const lost = (error?: Error): void => {
      if (error) onError?.(error);
      if (live === client) live = null;
      client.removeAllListeners('end');
      if (!closed) retry ??= setTimeout(() => void dial(), retryMs);
    };
    client.on('error', lost);
    client.on('end', () => lost());
    try {
      await client.connect();
      await prepare?.(client);
      if (closed) await client.end();
      else live = client;
    } catch (error) {
      lost(error as Error);
      await client.end().catch(() => undefined);
    }
  };
  const dialled = dial();

  return {
    client: () => live,
    async close() {
      closed = true;
      if (retry) clearTimeout(retry);
      await dialled;
      await live?.end().catch(() => undefined);
      live = null;
    },
  };
}
