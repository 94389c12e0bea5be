import { readPosition, type CommitPosition } from '../../../../libs/db/commit-order.js';
import { positionOf, type EventSelection } from '../../../../libs/db/event-scan.queries.js';
import type { Db } from '../../../../libs/db/client.js';
import { matchesEvent, typesNamed, unknownFilters } from '../../../../libs/domain/event/event-filter.js';
import { eventTypes } from '../../../../libs/domain/event/event-type.js';
import { parseAnyPublicId, parsePublicId } from '../../../../libs/views/ids.js';
import type { Caller } from '../kernel/callers.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import type { EventFilters } from './events.dto.js';

type Place = (string | number)[];

/** @throws DomainError 422 naming the entries that name no type. */
export function checkTypes(types: readonly string[], place: (index: number) => Place): void {
  const unknown = unknownFilters(types);
  if (unknown.length === 0) return;
  throw invalidRequest(unknown.map(({ index, entry }) => ({ loc: place(index), msg: `No event type or prefix ${JSON.stringify(entry)}`, type: 'unknown_event_type' })));
}

/** As an endpoint with these `enabled_events` hears: types about people and access only where they are named. */
export function heardSelection(caller: Caller, filters: EventFilters): EventSelection {
  const selection = eventSelection(caller, filters);
  const patterns = patternsOf(filters);
  const named = patterns.filter((pattern) => !everything(pattern));
  if (selection.types !== null) return selection;
  return named.length === 0 ? { ...selection, withoutSensitive: true } : { ...selection, types: eventTypes.filter((type) => matchesEvent(patterns, type)) };
}

/** What a query chooses. @throws DomainError 422 naming the parameter. */
export function eventSelection({ environment }: Caller, filters: EventFilters): EventSelection {
  const { object_id, customer_id, since, until, q } = filters;
  const types = patternsOf(filters);
  checkTypes(types, () => ['query', 'type']);
  return {
    types: typesNamed(types),
    objectId: object_id === undefined ? undefined : queryId('object_id', parseAnyPublicId(environment, object_id)),
    customerId: customer_id === undefined ? undefined : queryId('customer_id', parsePublicId('cus', environment, customer_id)),
    since,
    until,
    text: q,
  };
}

function patternsOf({ type }: EventFilters): string[] {
  return [type ?? []].flat().flatMap((entry) => entry.split(',').map((part) => part.trim()));
}

function everything(pattern: string): boolean {
  return typesNamed([pattern]) === null;
}

function queryId(name: string, id: string | null): string {
  if (id === null) throw invalidRequest([{ loc: ['query', name], msg: 'Not such an id of this environment', type: 'value_error' }]);
  return id;
}

/**
 * The position that an event id of the account, or a cursor, stands for.
 * @throws DomainError 422 naming the parameter or header when it is neither, or when the event is not kept any more.
 */
export async function positionAfter(db: Db, caller: Caller, { text, loc }: { text: string; loc: Place }): Promise<CommitPosition> {
  const eventId = parsePublicId('event', caller.environment, text);
  const position = eventId === null ? readPosition(text) : await positionOf(db, caller.accountId, eventId);
  if (position === null) throw invalidRequest([{ loc, msg: 'Neither an event of this account nor a cursor', type: 'value_error' }]);
  return position;
}
