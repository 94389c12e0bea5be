/** What a rule may look at, besides `metadata.<key>` and `custom_fields.<key>`. */
export const routeFields = [
  'amount_atom',
  'currency',
  'payment_method_kind',
  'card_brand',
  'funding',
  'bin',
  'issuer_country',
  'billing_country',
  'initiator',
  'subscription_payment',
  'customer_id',
] as const;
export type RouteField = (typeof routeFields)[number];

export type RouteValue = string | number | boolean;

/** Every operator that is present must hold. An absent value fulfils `ne`, `not_in` and `exists: false` only. */
export interface FieldTest {
  field: string;
  eq?: RouteValue;
  ne?: RouteValue;
  in?: RouteValue[];
  not_in?: RouteValue[];
  lt?: number;
  lte?: number;
  gt?: number;
  gte?: number;
  prefix?: string;
  exists?: boolean;
}

export type RouteCondition = { all: RouteCondition[] } | { any: RouteCondition[] } | { not: RouteCondition } | FieldTest;

export const fallbackClasses = ['soft_decline', 'not_sent', 'processor_error', 'action_required', 'partial_approval'] as const;
export type FallbackClass = (typeof fallbackClasses)[number];

export interface FallbackPolicy {
  /** Outcome classes after which another connection is tried. */
  on: FallbackClass[];
  /** Attempts in all, the first one included. */
  max_attempts: number;
}

/** `processor` and `processors` are public ids of connections (`processor_…`). */
export interface PriorityStrategy {
  strategy: 'priority';
  processors: string[];
  fallback?: FallbackPolicy;
}

export interface SplitStrategy {
  strategy: 'split';
  weights: { processor: string; percent: number }[];
  fallback?: FallbackPolicy;
}

export interface SuccessRateStrategy {
  strategy: 'success_rate';
  processors: string[];
  window_seconds?: number;
  exploration_percent?: number;
  fallback?: FallbackPolicy;
}

export interface LeastCostStrategy {
  strategy: 'least_cost';
  fees: { processor: string; basis_points: number; fixed_atom: number; currency?: string }[];
  fallback?: FallbackPolicy;
}

export type RouteStrategy = PriorityStrategy | SplitStrategy | SuccessRateStrategy | LeastCostStrategy;

export interface RouteRule {
  name: string;
  when: RouteCondition;
  then: RouteStrategy;
}

/** Ordered rules, the first match wins; `default` decides where none matches. */
export interface RouteDocument {
  rules: RouteRule[];
  default: RouteStrategy;
}

export const defaultFallback: FallbackPolicy = { on: ['not_sent', 'processor_error'], max_attempts: 3 };

export const routeLimits = { rules: 500, depth: 8, processors: 50, listValues: 500, maxAttempts: 10 } as const;

/** Connections that a strategy names, in the document's order. */
export function processorsOf(strategy: RouteStrategy): string[] {
  switch (strategy.strategy) {
    case 'priority':
    case 'success_rate':
      return strategy.processors;
    case 'split':
      return strategy.weights.map((weight) => weight.processor);
    case 'least_cost':
      return strategy.fees.map((fee) => fee.processor);
  }
}
