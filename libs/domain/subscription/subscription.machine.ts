import { DomainError } from '../../errors/domain-error.js';

export const subscriptionStatuses = ['trialing', 'active', 'paused', 'cancelled'] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

export const billingStatuses = ['scheduled', 'incomplete', 'current', 'past_due', 'unpaid'] as const;
export type BillingStatus = (typeof billingStatuses)[number];

/** Where a subscription stands: its status and, unless cancelled, whether money is owed. */
export type State = `${Exclude<SubscriptionStatus, 'cancelled'>}/${BillingStatus}` | 'cancelled';

export interface Standing {
  status: SubscriptionStatus;
  billingStatus: BillingStatus | null;
}

interface Row {
  from: readonly (State | 'none')[];
  to: readonly State[] | 'unchanged';
  /** Somebody asked for it; all others happen by time or by a payment's outcome. */
  command?: true;
}

const running = ['active/current', 'active/past_due', 'active/unpaid'] as const;
/** What reaches the end of its trial or period by itself. */
const reachesEnd = ['trialing/current', ...running] as const;
/** Paused after it was paid for, or in a trial. */
const pausedWithTime = ['paused/current', 'paused/past_due', 'paused/unpaid'] as const;
const resumable = ['paused/current', 'paused/incomplete', 'paused/past_due', 'paused/unpaid'] as const;
const paused = ['paused/scheduled', ...resumable] as const;
const pausable = ['trialing/scheduled', ...reachesEnd] as const;
const unpaused = ['trialing/scheduled', 'trialing/current', 'trialing/incomplete', ...running] as const;
const alive = [...unpaused, ...paused] as const;

/** The only place that knows which move leads where. A move that is not listed for a state is refused. */
export const table = {
  create: { from: ['none'], to: ['trialing/scheduled', 'trialing/current', 'trialing/incomplete'] },
  start: { from: ['trialing/scheduled'], to: ['trialing/current', 'trialing/incomplete'] },
  first_paid: { from: ['trialing/current', 'trialing/incomplete'], to: ['active/current'] },
  first_failed: { from: ['trialing/current'], to: ['active/past_due'] },
  stays_incomplete: { from: ['trialing/incomplete'], to: 'unchanged' },
  trial_without_method: { from: ['trialing/current'], to: ['paused/incomplete', 'cancelled'] },
  expire: { from: ['trialing/incomplete'], to: ['cancelled'] },
  finalise_by_invoice: { from: ['trialing/current', 'trialing/incomplete'], to: ['active/current'] },
  renew: { from: running, to: 'unchanged' },
  charge_failed: { from: ['active/current', 'active/past_due'], to: ['active/past_due'] },
  all_paid: { from: running, to: ['active/current'] },
  paid_while_paused: { from: pausedWithTime, to: ['paused/current'] },
  failed_while_paused: { from: ['paused/current', 'paused/past_due'], to: ['paused/past_due'] },
  dunning_ended: { from: ['active/past_due'], to: ['cancelled', 'paused/past_due', 'active/unpaid'] },
  cancel_at_end_reached: { from: reachesEnd, to: ['cancelled'] },
  pause_at_end_reached: { from: reachesEnd, to: pausedWithTime },
  resume_refused: { from: resumable, to: 'unchanged' },
  resume_paid: { from: resumable, to: ['active/current'] },
  pause: { from: pausable, to: ['paused/scheduled', ...pausedWithTime], command: true },
  pause_at_end: { from: pausable, to: 'unchanged', command: true },
  pause_again: { from: paused, to: 'unchanged', command: true },
  resume: { from: paused, to: [...pausable, ...resumable], command: true },
  cancel: { from: alive, to: ['cancelled'], command: true },
  cancel_at_end: { from: unpaused, to: 'unchanged', command: true },
  end_trial: { from: ['trialing/current'], to: ['trialing/current', 'active/current', 'paused/incomplete', 'cancelled'], command: true },
  change_items: { from: [...pausable, ...paused], to: 'unchanged', command: true },
  change_trial: { from: ['trialing/scheduled', 'trialing/current'], to: 'unchanged', command: true },
  update: { from: alive, to: 'unchanged', command: true },
} as const satisfies Record<string, Row>;

export type Move = keyof typeof table;
export const moves = Object.keys(table) as Move[];

const rows: Record<Move, Row> = table;

export function stateOf(standing: Standing): State {
  return standing.status === 'cancelled' ? 'cancelled' : `${standing.status}/${standing.billingStatus ?? 'current'}`;
}

/** Whether service may be given: trialing with `current`, active with `current` or `past_due`. */
export function isEntitled({ status, billingStatus }: Standing): boolean {
  if (status === 'trialing') return billingStatus === 'current';
  return status === 'active' && (billingStatus === 'current' || billingStatus === 'past_due');
}

export function mayMove(standing: Standing, move: Move): boolean {
  return rows[move].from.includes(stateOf(standing));
}

/** What a caller may ask for in this state. */
export function allowedCommands(standing: Standing): Move[] {
  return moves.filter((move) => rows[move].command && mayMove(standing, move));
}

/** 409 `invalid_state_transition` that names the state and the commands it allows. */
export function refusedMove(standing: Standing, move: Move, why?: string): DomainError {
  const allowed = allowedCommands(standing);
  const list = allowed.length > 0 ? allowed.join(', ') : 'none';
  const reason = why ?? `A subscription that is ${describe(standing)} refuses ${move}.`;
  return new DomainError('invalid_state_transition', `${reason} Allowed now: ${list}.`, {
    extra: { subscription_status: standing.status, billing_status: standing.billingStatus, allowed_moves: allowed },
  });
}

export function assertMayMove(standing: Standing, move: Move): void {
  if (!mayMove(standing, move)) throw refusedMove(standing, move);
}

/** `next` after `move`, or an error: no plan leaves the table. */
export function moved<S extends Standing>(before: Standing | 'none', move: Move, next: S): S {
  if (before !== 'none') assertMayMove(before, move);
  const from = before === 'none' ? before : stateOf(before);
  const to = rows[move].to;
  const arrived = stateOf(next);
  const fits = to === 'unchanged' ? arrived === from : to.includes(arrived);
  if (!fits || !rows[move].from.includes(from)) throw new Error(`${move} leads from ${from} to ${arrived}, which is not in the table`);
  return next;
}

function describe({ status, billingStatus }: Standing): string {
  return billingStatus && billingStatus !== 'current' ? `${status} (${billingStatus})` : status;
}

/** Mermaid state diagram of the statuses, for the room's README. */
export function diagram(): string {
  const edges = new Map<string, Set<Move>>();
  for (const move of moves) {
    const { from, to } = rows[move];
    if (to === 'unchanged') continue;
    for (const origin of from) {
      for (const target of to) {
        const edge = `${statusName(origin)} --> ${statusName(target)}`;
        if (statusName(origin) !== statusName(target)) edges.set(edge, (edges.get(edge) ?? new Set()).add(move));
      }
    }
  }
  const lines = [...edges].map(([edge, by]) => `  ${edge}: ${[...by].join(', ')}`);
  return ['stateDiagram-v2', ...lines, '  cancelled --> [*]'].join('\n');
}

function statusName(state: State | 'none'): string {
  return state === 'none' ? '[*]' : state.split('/')[0]!;
}
