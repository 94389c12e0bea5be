import { newsSince } from '../../../../libs/db/event-scan.queries.js';
import { openWakeListener, type WakeChannel } from '../../../../libs/db/wake.js';
import type { Infrastructure } from '../kernel/infrastructure.js';

const pollMs = 250;
const shortestGapMs = 30;

interface Watched {
  readers: number;
  /** Whether a statement has asked for this account yet: what came between its first reading and that one is told once. */
  asked: boolean;
  /** Events of transactions before this horizon were told. */
  toldTo: bigint;
  waiting: Set<() => void>;
}

/**
 * Tells readers of events that their account has new ones that nothing can overtake. One short statement per process answers for
 * all accounts that are read: after a NOTIFY, again while an older transaction still runs, and four times a second anyway, because
 * events that no endpoint hears are not notified. Nothing is asked while nobody reads.
 */
export class EventNews {
  private readonly accounts = new Map<string, Watched>();
  private horizon: string | null = null;
  private listener: WakeChannel | null = null;
  private timer: NodeJS.Timeout | null = null;
  private asking = false;
  private wakeUntil = 0;

  constructor(private readonly infrastructure: Infrastructure) {}

  /** Begins to watch an account; call it before the first reading. The result ends it. */
  watch(accountId: string): () => void {
    const watched = this.accounts.get(accountId) ?? { readers: 0, asked: false, toldTo: 0n, waiting: new Set() };
    watched.readers += 1;
    this.accounts.set(accountId, watched);
    if (this.accounts.size === 1 && watched.readers === 1) this.start();
    return () => {
      watched.readers -= 1;
      if (watched.readers > 0) return;
      this.accounts.delete(accountId);
      if (this.accounts.size === 0) this.stop();
    };
  }

  /** Resolves with true when there may be events of transactions from `horizon` on, with false after the time or the signal. */
  async next(accountId: string, horizon: string, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<boolean> {
    const watched = this.accounts.get(accountId)!;
    if (signal.aborted) return false;
    if (watched.toldTo > BigInt(horizon)) return true;
    return new Promise((resolve) => {
      const finish = (news: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', silent);
        watched.waiting.delete(told);
        resolve(news);
      };
      const told = (): void => {
        if (watched.toldTo > BigInt(horizon)) finish(true);
      };
      const silent = (): void => finish(false);
      const timer = setTimeout(silent, timeoutMs);
      signal.addEventListener('abort', silent);
      watched.waiting.add(told);
    });
  }

  private start(): void {
    const { config, log } = this.infrastructure;
    this.listener = openWakeListener({
      databaseUrl: config.databaseUrl,
      onError: (err) => log.warn({ err }, 'event reader lost its wake connection'),
      onWake: () => this.wake(),
    });
    this.wake();
  }

  private stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.horizon = null;
    void this.listener?.close();
    this.listener = null;
  }

  private wake(): void {
    this.wakeUntil = performance.now() + pollMs;
    this.askIn(shortestGapMs);
  }

  private askIn(ms: number): void {
    if (this.asking) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), ms);
  }

  private async ask(): Promise<void> {
    this.asking = true;
    const askedAt = performance.now();
    let hidden = false;
    try {
      const asked = [...this.accounts];
      const { horizon, waiting, accounts } = await newsSince(this.infrastructure.db, this.horizon ?? '0', asked.map(([accountId]) => accountId));
      this.horizon = horizon;
      hidden = waiting;
      const withNews = new Set(accounts);
      for (const [accountId, watched] of asked) {
        if (withNews.has(accountId) || !watched.asked) tell(watched, BigInt(horizon));
      }
    } catch (err) {
      this.infrastructure.log.warn({ err }, 'news of events not read');
    }
    this.asking = false;
    if (this.accounts.size === 0) return;
    const wokenMeanwhile = this.wakeUntil - pollMs > askedAt;
    this.askIn(wokenMeanwhile || (hidden && this.wakeUntil > askedAt) ? shortestGapMs : pollMs);
  }
}

function tell(watched: Watched, horizon: bigint): void {
  watched.asked = true;
  watched.toldTo = horizon;
  for (const told of [...watched.waiting]) told();
}
