export const attentionActions = ['look_again', 'mark_succeeded', 'mark_failed', 'void', 'refund'] as const;
export type AttentionAction = (typeof attentionActions)[number];

export interface AttentionRule {
  /** What resolving it may do; without one its resolution is only a note. */
  actions: readonly AttentionAction[];
  /** The line stays open while what it tells of lasts: closing it needs one of its actions. */
  needsAction?: boolean;
  /** Other calls that help, with `{object}` for the id of what the line is about. */
  calls?: readonly string[];
  /** Why a note does not close it. */
  endsBy?: string;
}

/** What can be done about each type of line. Types that are not named take a note. */
export const attentionRules: Record<string, AttentionRule> = {
  payment_exception: { actions: attentionActions, needsAction: true, calls: ['GET /payment-intents/{object}/decisions'] },
  payment_unknown: { actions: ['look_again', 'mark_succeeded', 'mark_failed'], needsAction: true, calls: ['GET /payment-intents/{object}/decisions'] },
  payment_overdue: { actions: ['look_again'], calls: ['GET /payment-intents/{object}'] },
  operation_unresolved: { actions: ['look_again'], calls: ['GET /payment-intents/{object}'] },
  callback_unapplied: { actions: ['look_again'], calls: ['GET /payment-intents/{object}'] },
  subscription_overdue: {
    actions: [], needsAction: true, calls: ['GET /subscriptions/{object}', 'POST /subscriptions/{object}/refresh-status'],
    endsBy: 'It ends when the subscription has moved on.',
  },
  refund_failed: { actions: [], calls: ['GET /refunds/{object}', 'POST /refunds {"charge_id": "…"} asks for it again'] },
  charge_stop: { actions: [], needsAction: true, endsBy: 'It ends when the stop is lifted: POST /charge-stops/{object}/lift.' },
  processor_degraded: { actions: [], calls: ['POST /payment-processors/{object}/check', 'POST /payment-processors/{object}/disable'] },
  emails_failing: { actions: [], calls: ['GET /emails?status=pending'] },
  drafts_left: {
    actions: [],
    calls: ['GET /invoices?subscription_id={object}&status=draft', 'POST /invoices/{id}/finalize, then POST /invoices/{id}/pay', 'POST /invoices/{id}/void'],
  },
  reconciliation_failed: { actions: [], calls: ['POST /payment-processors/{object}/check', 'POST /payment-processors/{object}/reconcile'] },
  reconciliation_difference: { actions: [], calls: ['GET /charges/{object}'] },
};

const words: Record<AttentionAction, string> = {
  look_again: '{"action": "look_again"} asks the processor now',
  mark_succeeded: '{"action": "mark_succeeded", "processor_payment_id": "…"} says that the money was taken',
  mark_failed:
    '{"action": "mark_failed", "confirm": true} says that no money was taken, and never will be: the payment may then be charged again, a second time if that is wrong',
  void: '{"action": "void"} cancels at the processor what was authorised',
  refund: '{"action": "refund"} gives back at the processor what was captured',
};

/** The calls that help with an open line. */
export function callsFor(type: string, { item, object }: { item: string; object: string }): string[] {
  const rule = attentionRules[type];
  if (!rule) return [];
  const resolve = rule.actions.map((action) => `POST /attention/${item}/resolve ${words[action]}`);
  return [...resolve, ...(rule.calls ?? []).map((call) => call.replaceAll('{object}', object))];
}
