import type { SchemeBlock } from '../payment/scheme-limit.js';
import {
  defaultFallback,
  processorsOf,
  type FallbackPolicy,
  type FieldTest,
  type RouteCondition,
  type RouteDocument,
  type RouteStrategy,
  type RouteValue,
} from './route.document.js';

/** What is known of the payment when it is routed; null where nothing is known. */
export interface RouteFacts {
  /** Stable identity of the payment: `split` gives the same answer for it every time. */
  payment_id: string;
  amount_atom: number;
  currency: string;
  payment_method_kind: string | null;
  card_brand: string | null;
  funding: string | null;
  bin: string | null;
  issuer_country: string | null;
  billing_country: string | null;
  initiator: 'customer' | 'merchant';
  subscription_payment: 'first' | 'later' | null;
  customer_id: string | null;
  metadata: Record<string, unknown> | null;
  custom_fields: Record<string, unknown> | null;
}

/** One connection of the account as this payment sees it. `processorId` is its public id. */
export interface Candidate {
  processorId: string;
  enabled: boolean;
  /** The connection's kind has an adapter in this environment. */
  supported: boolean;
  /** The payment method is known there. */
  mapped: boolean;
  /** New charges there are stopped. */
  stopped?: boolean;
  /** The method may be used there without the customer (mandate or network transaction id). */
  storedCredential: boolean;
  /** The card scheme allows no attempt with this card there. */
  schemeBlock?: SchemeBlock | null;
  /** Its breaker is open; absent while it takes its share. */
  breaker?: OpenBreaker | null;
}

export interface OpenBreaker {
  /** RFC 3339; when it opened. */
  since: string;
  /** What opened it; null where another process found out. */
  samples: number | null;
  bad: number | null;
  /** The next payment goes there to find out whether it works again. */
  probeDue: boolean;
}

export const skipReasons = [
  'unknown_connection',
  'not_supported_here',
  'disabled',
  'stopped',
  'no_mapping',
  'no_stored_credential',
  'scheme_limit',
  'never_again',
  'set_aside',
] as const;
export type SkipReason = (typeof skipReasons)[number];

/** Why a payment goes where it goes; stored with every charge. Processors by public id. */
export interface RouteDecision {
  /** The rule's name, or null where the default decided. */
  rule: string | null;
  strategy: RouteStrategy['strategy'];
  /** Named by the strategy, in the order in which it would try them. */
  candidates: string[];
  skipped: { processor_id: string; reason: SkipReason }[];
  /** Connections whose breaker was open, and whether they stayed in the order all the same. Absent where there was none. */
  set_aside?: (Omit<OpenBreaker, 'probeDue'> & { processor_id: string; tried: 'no' | 'probe' | 'all_are_set_aside' })[];
  /** What is left, in order. */
  order: string[];
  fallback: FallbackPolicy;
}

/** Pure and deterministic: the same document, facts and candidates give the same decision. */
export function decideRoute(
  document: RouteDocument,
  facts: RouteFacts,
  candidates: ReadonlyMap<string, Candidate>,
): RouteDecision {
  const rule = document.rules.find((each) => holds(each.when, facts)) ?? null;
  const strategy = rule?.then ?? document.default;
  const named = orderOf(strategy, facts);
  const skipped: RouteDecision['skipped'] = [];
  const usable: Candidate[] = [];
  for (const processorId of named) {
    const candidate = candidates.get(processorId);
    const reason = skipReason(candidate, facts);
    if (reason) skipped.push({ processor_id: processorId, reason });
    else usable.push(candidate!);
  }
  const { order, setAside } = putAside(usable);
  for (const { processor_id, tried } of setAside) if (tried === 'no') skipped.push({ processor_id, reason: 'set_aside' });
  return {
    rule: rule?.name ?? null,
    strategy: strategy.strategy,
    candidates: named,
    skipped,
    ...(setAside.length > 0 ? { set_aside: setAside } : {}),
    order,
    fallback: strategy.fallback ?? defaultFallback,
  };
}

/** Without those whose breaker is open; with all of them where nothing else is left. */
function putAside(usable: readonly Candidate[]): { order: string[]; setAside: NonNullable<RouteDecision['set_aside']> } {
  const free = usable.filter((candidate) => !isSetAside(candidate));
  const kept = free.length > 0 ? free : usable;
  const setAside = usable.flatMap(({ processorId, breaker }) => {
    if (!breaker) return [];
    const { probeDue, ...told } = breaker;
    const tried = probeDue ? ('probe' as const) : free.length > 0 ? ('no' as const) : ('all_are_set_aside' as const);
    return [{ processor_id: processorId, ...told, tried }];
  });
  return { order: kept.map((candidate) => candidate.processorId), setAside };
}

/** Whether payments that may go elsewhere do not go there now. */
export function isSetAside(candidate: Candidate | undefined): boolean {
  return candidate?.breaker != null && !candidate.breaker.probeDue;
}

/** Why a connection cannot take this payment; null if it can. */
export function skipReason(candidate: Candidate | undefined, facts: Pick<RouteFacts, 'initiator'>): SkipReason | null {
  if (!candidate) return 'unknown_connection';
  if (!candidate.supported) return 'not_supported_here';
  if (!candidate.enabled) return 'disabled';
  if (candidate.stopped) return 'stopped';
  if (!candidate.mapped) return 'no_mapping';
  if (facts.initiator === 'merchant' && !candidate.storedCredential) return 'no_stored_credential';
  return candidate.schemeBlock ?? null;
}

/** What neither time nor an operator changes for this method. */
const lasting: ReadonlySet<SkipReason> = new Set(['unknown_connection', 'not_supported_here', 'no_mapping', 'no_stored_credential', 'never_again']);

/** Whether no attempt could begin because the card scheme forbids this card for good. */
export function isBarred(decision: Pick<RouteDecision, 'order' | 'skipped'>): boolean {
  const barred = decision.skipped.some(({ reason }) => reason === 'never_again');
  return barred && decision.order.length === 0 && decision.skipped.every(({ reason }) => lasting.has(reason));
}

function orderOf(strategy: RouteStrategy, facts: RouteFacts): string[] {
  if (strategy.strategy !== 'split') return [...new Set(processorsOf(strategy))];
  const point = hundredth(facts.payment_id);
  let upTo = 0;
  const chosen = strategy.weights.find((weight) => (upTo += weight.percent) > point) ?? strategy.weights[0];
  const others = strategy.weights.filter((weight) => weight !== chosen).sort((a, b) => b.percent - a.percent);
  return [chosen, ...others].flatMap((weight) => (weight ? [weight.processor] : []));
}

/** FNV-1a over the identity, folded to 0…99. */
function hundredth(identity: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < identity.length; index += 1) {
    hash = Math.imul(hash ^ identity.charCodeAt(index), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  return (hash >>> 0) % 100;
}

export function holds(condition: RouteCondition, facts: RouteFacts): boolean {
  if ('all' in condition) return condition.all.every((part) => holds(part, facts));
  if ('any' in condition) return condition.any.some((part) => holds(part, facts));
  if ('not' in condition) return !holds(condition.not, facts);
  return testHolds(condition, valueOf(condition.field, facts));
}

function testHolds(test: FieldTest, value: RouteValue | null): boolean {
  if (test.exists !== undefined && (value !== null) !== test.exists) return false;
  if (test.ne !== undefined && value === test.ne) return false;
  if (test.not_in !== undefined && value !== null && test.not_in.includes(value)) return false;
  if (test.eq !== undefined && value !== test.eq) return false;
  if (test.in !== undefined && (value === null || !test.in.includes(value))) return false;
  if (test.prefix !== undefined && (typeof value !== 'string' || !value.startsWith(test.prefix))) return false;
  const bounds = [test.lt, test.lte, test.gt, test.gte];
  if (bounds.every((bound) => bound === undefined)) return true;
  if (typeof value !== 'number') return false;
  return (
    (test.lt === undefined || value < test.lt) &&
    (test.lte === undefined || value <= test.lte) &&
    (test.gt === undefined || value > test.gt) &&
    (test.gte === undefined || value >= test.gte)
  );
}

function valueOf(field: string, facts: RouteFacts): RouteValue | null {
  const dot = field.indexOf('.');
  const raw =
    dot < 0
      ? (facts as unknown as Record<string, unknown>)[field]
      : own(field.slice(0, dot) === 'metadata' ? facts.metadata : facts.custom_fields, field.slice(dot + 1));
  return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean' ? raw : null;
}

function own(values: Record<string, unknown> | null, key: string): unknown {
  return values && Object.hasOwn(values, key) ? values[key] : null;
}
