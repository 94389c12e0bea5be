import { eventTypes, isSensitiveType } from './event-type.js';

const everything = new Set(['*', 'all']);
const known = new Set<string>(eventTypes);

/**
 * Whether an endpoint subscribed to `enabledEvents` hears an event of `type`. `*` and `all` mean every type that is not
 * sensitive, `x.*` a prefix, anything else one exact type.
 */
export function matchesEvent(enabledEvents: readonly string[], type: string): boolean {
  return enabledEvents.some((pattern) => {
    if (pattern === type) return true;
    if (everything.has(pattern)) return !isSensitiveType(type);
    return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
  });
}

/** Which objects an endpoint wants to hear of. Each part that is there must hold. */
export interface EventObjectFilter {
  /** Public ids: the event is about one of them. */
  object_ids?: string[];
  /** Top-level keys of the object's `metadata` with the values that they must have. */
  metadata?: Record<string, string | number | boolean>;
  custom_fields?: Record<string, string | number | boolean>;
}

export interface EventSubscription {
  enabledEvents: readonly string[];
  filter: EventObjectFilter | null;
}

export interface HeardEvent {
  type: string;
  /** Public id of the object that it is about. */
  objectId: string;
  /** That object after the change. */
  data: object;
}

/** Whether an endpoint hears an event: by its type, and by its object. */
export function hearsEvent({ enabledEvents, filter }: EventSubscription, event: HeardEvent): boolean {
  return matchesEvent(enabledEvents, event.type) && (filter === null || matchesObject(filter, event));
}

function matchesObject({ object_ids: objectIds, metadata, custom_fields: customFields }: EventObjectFilter, event: HeardEvent): boolean {
  const data = event.data as { metadata?: unknown; custom_fields?: unknown };
  if (objectIds && !objectIds.includes(event.objectId)) return false;
  return holds(metadata, data.metadata) && holds(customFields, data.custom_fields);
}

function holds(wanted: Record<string, unknown> | undefined, fields: unknown): boolean {
  if (!wanted) return true;
  if (typeof fields !== 'object' || fields === null) return false;
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(fields, key) && (fields as Record<string, unknown>)[key] === value);
}

/** The types that `patterns` name, one by one; null where they name everything. */
export function typesNamed(patterns: readonly string[]): string[] | null {
  if (patterns.length === 0 || patterns.some((pattern) => everything.has(pattern))) return null;
  return eventTypes.filter((type) => matchesEvent(patterns, type));
}

/** The entries that name neither a known type, nor a prefix of one, nor everything; with their positions. */
export function unknownFilters(enabledEvents: readonly string[]): { index: number; entry: string }[] {
  return enabledEvents.map((entry, index) => ({ index, entry })).filter(({ entry }) => !isKnownFilter(entry));
}

function isKnownFilter(entry: string): boolean {
  if (everything.has(entry)) return true;
  if (entry.endsWith('.*') && entry.length > 2) return eventTypes.some((type) => type.startsWith(entry.slice(0, -1)));
  return known.has(entry);
}
