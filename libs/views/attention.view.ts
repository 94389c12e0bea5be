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
export function attentionView(item: AttentionFields, environment: Environment) {
  return {
    id: publicId('att', environment, item.id),
    object: 'attention_item',
    type: item.type,
    status: item.resolvedAt ? 'resolved' : 'open',
    object_id: publicId(item.kind as IdKind, environment, item.objectId),
    reason: item.reason,
    details: item.details,
    actions: item.actions,
    opened_at: item.openedAt.toISOString(),
    resolved_at: item.resolvedAt?.toISOString() ?? null,
    resolved_by: item.resolvedBy,
    resolution: item.resolution,
  };
}
