import { callsFor } from '../domain/attention/attention.actions.js';
import type { Environment } from '../domain/environment.js';
import { publicId, type IdKind } from './ids.js';

export interface AttentionFields {
  id: string;
  type: string;
  kind: string;
  objectId: string;
  reason: string;
  details: Record<string, unknown> | null;
  actions: string[];
  openedAt: Date;
  resolvedAt: Date | null;
  resolvedBy: string | null;
  resolution: string | null;
}

/** One line of the list of what waits for a person. */
export function attentionView(item: AttentionFields, environment: Environment, now: Date) {
  const id = publicId('att', environment, item.id);
  const object = publicId(item.kind as IdKind, environment, item.objectId);
  return {
    id,
    object: 'attention_item',
    type: item.type,
    status: item.resolvedAt ? 'resolved' : 'open',
    object_id: object,
    reason: item.reason,
    details: item.details,
    actions: [...item.actions, ...(item.resolvedAt ? [] : callsFor(item.type, { item: id, object }))],
    age_seconds: Math.max(0, Math.floor(((item.resolvedAt ?? now).getTime() - item.openedAt.getTime()) / 1000)),
    opened_at: item.openedAt.toISOString(),
    resolved_at: item.resolvedAt?.toISOString() ?? null,
    resolved_by: item.resolvedBy,
    resolution: item.resolution,
  };
}
