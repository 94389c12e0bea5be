import { Injectable, type StreamableFile } from '@nestjs/common';
import { encodePosition, type CommitPosition } from '../../../../libs/db/commit-order.js';
import { currentPosition, scanEvents, type EventSelection, type ScannedEvent } from '../../../../libs/db/event-scan.queries.js';
import { renderPayload } from '../../../../libs/webhooks/payload.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { EventNews } from './event-news.js';
import { inChunks } from './event-chunks.js';
import type { EventReader } from './event-readers.js';
import type { StreamEventsQuery } from './events.dto.js';
import { heardSelection, positionAfter } from './events.selection.js';

const pageSize = 50;
const reconnectAfterMs = 1_000;

@Injectable()
export class EventStreamsService {
  private readonly news: EventNews;

  constructor(private readonly infrastructure: Infrastructure) {
    this.news = new EventNews(infrastructure);
  }

  /** Server-sent events from a position on, for as long as the reader stays. @throws DomainError 422 */
  async open(reader: EventReader, { after, heartbeat, ...filters }: StreamEventsQuery): Promise<StreamableFile> {
    const selection = heardSelection(reader.caller, filters);
    const start = await this.startOf(reader, after);
    return reader.answer('text/event-stream; charset=utf-8', this.messages(reader, { selection, start, heartbeatMs: heartbeat * 1000 }));
  }

  private startOf({ caller, request }: EventReader, after: string | undefined): Promise<CommitPosition> {
    const { db } = this.infrastructure;
    const last = request.headers['last-event-id'];
    if (typeof last === 'string' && last !== '') return positionAfter(db, caller, { text: last, loc: ['header', 'Last-Event-ID'] });
    return after === undefined ? currentPosition(db) : positionAfter(db, caller, { text: after, loc: ['query', 'after'] });
  }

  private async *messages(reader: EventReader, { selection, start, heartbeatMs }: { selection: EventSelection; start: CommitPosition; heartbeatMs: number }): AsyncGenerator<string> {
    const { caller, signal } = reader;
    const leave = this.news.watch(caller.accountId);
    signal.addEventListener('abort', leave, { once: true });
    let position = start;
    yield `retry: ${reconnectAfterMs}\n${heartbeatAt(position)}`;
    while (!signal.aborted) {
      const { rows, more, next } = await scanEvents(this.infrastructure.db, caller.accountId, { selection, order: 'oldest first', after: position, limit: pageSize });
      position = next;
      yield* inChunks(rows.map((row) => this.message(row)));
      if (more) continue;
      const timely = await this.news.next(caller.accountId, position.txId, { timeoutMs: heartbeatMs, signal });
      if (!timely && !signal.aborted) yield heartbeatAt(position);
    }
    yield `event: end\ndata: ${JSON.stringify({ reason: reader.endReason })}\n\n`;
  }

  private message(row: ScannedEvent): string {
    const eventId = publicId('event', this.infrastructure.environment, row.id);
    const { body } = renderPayload({ format: 'object', eventId, endpointId: '', head: row.head, data: row.data });
    return `id: ${eventId}\ndata: ${body}\n\n`;
  }
}

/** Its id is a place between events: who reconnects from it misses nothing, also where no event has come yet. */
function heartbeatAt(position: CommitPosition): string {
  return `event: heartbeat\nid: ${encodePosition(position)}\ndata: {}\n\n`;
}
