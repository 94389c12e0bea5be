import { Readable } from 'node:stream';
import { Injectable, StreamableFile, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import type { Caller } from '../kernel/callers.js';
import { CallersService } from '../kernel/callers.service.js';
import { Infrastructure } from '../kernel/infrastructure.js';

const lookMs = 1_000;
/** How long readers have to take their last line when the process stops. */
const farewellMs = 2_000;
const busySeconds = 5;

export type ReaderKind = 'stream' | 'export';
/** Why a reading ends before its end. */
export type EndReason = 'gone' | 'slow' | 'shutdown' | 'token_invalid';

/** One long answer and what may end it. */
export class EventReader {
  private readonly ending = new AbortController();
  /** Since when a chunk waits to be taken; null while none does. */
  blockedSince: number | null = null;

  constructor(readonly kind: ReaderKind, readonly caller: Caller, readonly request: FastifyRequest, private readonly reply: FastifyReply) {}

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  get endReason(): EndReason | null {
    return this.signal.aborted ? (this.signal.reason as EndReason) : null;
  }

  end(reason: EndReason): void {
    if (!this.signal.aborted) this.ending.abort(reason);
  }

  /** Breaks the connection, so that nobody takes what was sent for all. */
  cut(): void {
    this.reply.raw.destroy();
  }

  /** The answer: nothing is produced before the reader has taken what is there. */
  answer(type: string, chunks: AsyncIterable<string>): StreamableFile {
    void this.reply.header('cache-control', 'no-store, no-transform').header('x-accel-buffering', 'no');
    return new StreamableFile(Readable.from(this.watched(chunks), { objectMode: false }), { type });
  }

  private async *watched(chunks: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const chunk of chunks) {
      this.blockedSince = performance.now();
      yield chunk;
      this.blockedSince = null;
    }
  }
}

/** Counts the readers of this process and ends those that are too slow, lost their token, or are left when it stops. */
@Injectable()
export class EventReaders implements OnModuleDestroy {
  private readonly readers = new Set<EventReader>();
  private looking: NodeJS.Timeout | null = null;
  private stopping = false;

  constructor(private readonly infrastructure: Infrastructure, private readonly callers: CallersService) {}

  /** @throws DomainError 429 when the token, the account or the process has as many as it may, 503 while the process stops. */
  open(kind: ReaderKind, caller: Caller, { request, reply }: { request: FastifyRequest; reply: FastifyReply }): EventReader {
    if (this.stopping) throw new DomainError('service_unavailable');
    this.checkRoom(kind, caller);
    const reader = new EventReader(kind, caller, request, reply);
    this.readers.add(reader);
    this.looking ??= setInterval(() => void this.look(), lookMs);
    reply.raw.once('close', () => {
      reader.end('gone');
      this.readers.delete(reader);
      if (this.readers.size > 0 || this.looking === null) return;
      clearInterval(this.looking);
      this.looking = null;
    });
    return reader;
  }

  onModuleDestroy(): void {
    this.stopping = true;
    for (const reader of this.readers) reader.end('shutdown');
    setTimeout(() => this.readers.forEach((reader) => reader.cut()), farewellMs).unref();
  }

  private checkRoom(kind: ReaderKind, caller: Caller): void {
    const { eventStreams, eventStreamsPerAccount, eventStreamsPerToken, eventExportsPerAccount } = this.infrastructure.config;
    const same = [...this.readers].filter((reader) => reader.kind === kind);
    const ofAccount = same.filter((reader) => reader.caller.accountId === caller.accountId);
    if (kind === 'export') return refuseFrom(eventExportsPerAccount, ofAccount.length, 'exports of this account run');
    refuseFrom(eventStreams, same.length, 'streams of this process are open');
    refuseFrom(eventStreamsPerAccount, ofAccount.length, 'streams of this account are open');
    refuseFrom(eventStreamsPerToken, ofAccount.filter((reader) => reader.caller.tokenId === caller.tokenId).length, 'streams of this token are open');
  }

  private async look(): Promise<void> {
    const stalledBefore = performance.now() - this.infrastructure.config.eventReaderStallSeconds * 1000;
    await Promise.all([...this.readers].map(async (reader) => {
      if (reader.blockedSince !== null && reader.blockedSince < stalledBefore) {
        reader.end('slow');
        return reader.cut();
      }
      if (!(await this.mayRead(reader))) reader.end('token_invalid');
    }));
  }

  /** While the database is away nobody loses the right to read. */
  private async mayRead({ request }: EventReader): Promise<boolean> {
    try {
      await this.callers.identify(request, request.tokenHash!);
      return true;
    } catch (error) {
      return !(error instanceof DomainError);
    }
  }
}

function refuseFrom(most: number, open: number, words: string): void {
  if (open >= most) throw new DomainError('rate_limited', `${open} ${words} already; that is the most.`, { retryAfterSeconds: busySeconds });
}
