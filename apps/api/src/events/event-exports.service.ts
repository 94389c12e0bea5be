import { Injectable, type StreamableFile } from '@nestjs/common';
import { pendingCounts } from '../../../../libs/db/delivery.queries.js';
import { encodePosition, type CommitPosition } from '../../../../libs/db/commit-order.js';
import { currentPosition, scanEvents, type EventSelection, type ScannedEvent } from '../../../../libs/db/event-scan.queries.js';
import { eventView } from '../../../../libs/views/event.view.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { inChunks } from './event-chunks.js';
import type { EventReader } from './event-readers.js';
import type { ExportEventsQuery } from './events.dto.js';
import { eventSelection, positionAfter } from './events.selection.js';

const pageSize = 100;

interface Bounds {
  selection: EventSelection;
  after: CommitPosition | null;
  /** The end, fixed when the export begins. */
  end: CommitPosition;
}

@Injectable()
export class EventExportsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  /** Every event of the selection that is there now, as lines of JSON, oldest first; then one line that says how it ended. @throws DomainError 422 */
  async open(reader: EventReader, { after, ...filters }: ExportEventsQuery): Promise<StreamableFile> {
    const { db } = this.infrastructure;
    const selection = eventSelection(reader.caller, filters);
    const start = after === undefined ? null : await positionAfter(db, reader.caller, { text: after, loc: ['query', 'after'] });
    return reader.answer('application/x-ndjson; charset=utf-8', this.lines(reader, { selection, after: start, end: await currentPosition(db) }));
  }

  private async *lines({ caller, signal }: EventReader, { selection, after, end }: Bounds): AsyncGenerator<string> {
    const below = end.txId;
    let position = after;
    let count = 0;
    let more = true;
    while (more && !signal.aborted) {
      const page = await scanEvents(this.infrastructure.db, caller.accountId, { selection, order: 'oldest first', after: position, below, limit: pageSize });
      yield* inChunks(await this.page(page.rows));
      count += page.rows.length;
      ({ more, next: position } = page);
    }
    yield `${JSON.stringify({ object: 'export', complete: !more, events: count, cursor: position && encodePosition(position) })}\n`;
  }

  private async page(rows: readonly ScannedEvent[]): Promise<string[]> {
    const pending = await pendingCounts(this.infrastructure.db, rows.map(({ id }) => id));
    return rows.map((row) => `${JSON.stringify(eventView(row, pending.get(row.id) ?? 0))}\n`);
  }
}
