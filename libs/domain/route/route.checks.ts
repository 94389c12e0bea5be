import {
  processorsOf,
  routeFields,
  routeLimits,
  type FieldTest,
  type RouteCondition,
  type RouteDocument,
  type RouteStrategy,
  type RouteValue,
} from './route.document.js';

export interface RouteMistake {
  /** From the document's root, for example `['rules', 0, 'when', 'all', 1, 'field']`. */
  path: (string | number)[];
  message: string;
}

type Path = RouteMistake['path'];

/** Strategies that can be drafted but not published yet. */
const laterStrategies = new Set(['success_rate', 'least_cost']);

const enumerated: Record<string, readonly string[]> = {
  initiator: ['customer', 'merchant'],
  subscription_payment: ['first', 'later'],
  funding: ['credit', 'debit', 'prepaid', 'unknown'],
};

const patterns: Record<string, { pattern: RegExp; message: string }> = {
  currency: { pattern: /^[a-z]{3}$/, message: 'a currency is three lower-case letters' },
  issuer_country: { pattern: /^[A-Z]{2}$/, message: 'a country is two upper-case letters' },
  billing_country: { pattern: /^[A-Z]{2}$/, message: 'a country is two upper-case letters' },
  bin: { pattern: /^\d{1,8}$/, message: 'a bin is 1 to 8 digits' },
};

/** What a typed document can still have wrong. `known`: public ids of the account's connections; null skips that check. */
export function checkRouteDocument(document: RouteDocument, known: ReadonlySet<string> | null): RouteMistake[] {
  const mistakes: RouteMistake[] = [];
  if (document.rules.length > routeLimits.rules) {
    mistakes.push({ path: ['rules'], message: `at most ${routeLimits.rules} rules` });
  }
  const names = new Set<string>();
  document.rules.forEach((rule, index) => {
    if (names.has(rule.name)) mistakes.push({ path: ['rules', index, 'name'], message: 'another rule has this name' });
    names.add(rule.name);
    checkCondition(rule.when, ['rules', index, 'when'], 1, mistakes);
    checkStrategy(rule.then, ['rules', index, 'then'], known, mistakes);
  });
  checkStrategy(document.default, ['default'], known, mistakes);
  return mistakes;
}

/** What keeps a valid document from being published. */
export function checkPublishable(document: RouteDocument): RouteMistake[] {
  const strategies: [Path, RouteStrategy][] = [
    ...document.rules.map((rule, index): [Path, RouteStrategy] => [['rules', index, 'then', 'strategy'], rule.then]),
    [['default', 'strategy'], document.default],
  ];
  return strategies
    .filter(([, strategy]) => laterStrategies.has(strategy.strategy))
    .map(([path, strategy]) => ({
      path,
      message: `the strategy ${strategy.strategy} comes later: it can be drafted, not published; use priority or split`,
    }));
}

function checkCondition(condition: RouteCondition, path: Path, depth: number, mistakes: RouteMistake[]): void {
  if (depth > routeLimits.depth) {
    mistakes.push({ path, message: `conditions nest at most ${routeLimits.depth} deep` });
    return;
  }
  if ('all' in condition || 'any' in condition) {
    const key = 'all' in condition ? 'all' : 'any';
    const parts = 'all' in condition ? condition.all : condition.any;
    if (parts.length === 0) mistakes.push({ path: [...path, key], message: 'at least one condition' });
    parts.forEach((part, index) => checkCondition(part, [...path, key, index], depth + 1, mistakes));
    return;
  }
  if ('not' in condition) {
    checkCondition(condition.not, [...path, 'not'], depth + 1, mistakes);
    return;
  }
  checkTest(condition, path, mistakes);
}

function checkTest(test: FieldTest, path: Path, mistakes: RouteMistake[]): void {
  const free = /^(metadata|custom_fields)\../.test(test.field);
  if (!free && !(routeFields as readonly string[]).includes(test.field)) {
    mistakes.push({ path: [...path, 'field'], message: `unknown field ${test.field}` });
    return;
  }
  const operators = Object.keys(test).filter((key) => key !== 'field' && test[key as keyof FieldTest] !== undefined);
  if (operators.length === 0) mistakes.push({ path, message: 'name an operator: eq ne in not_in lt lte gt gte prefix exists' });
  const numeric = test.field === 'amount_atom';
  for (const operator of operators) {
    const at = [...path, operator];
    if (['lt', 'lte', 'gt', 'gte'].includes(operator) && !numeric && !free) {
      mistakes.push({ path: at, message: `${operator} compares numbers; ${test.field} is text` });
    } else if (operator === 'prefix' && numeric) {
      mistakes.push({ path: at, message: 'prefix compares text; amount_atom is a number' });
    } else if (operator === 'in' || operator === 'not_in') {
      const values = test[operator] ?? [];
      if (values.length === 0 || values.length > routeLimits.listValues) {
        mistakes.push({ path: at, message: `1 to ${routeLimits.listValues} values` });
      }
      if (!free) values.forEach((value, index) => checkValue(test.field, value, [...at, index], mistakes));
    } else if ((operator === 'eq' || operator === 'ne') && !free) {
      checkValue(test.field, test[operator]!, at, mistakes);
    }
  }
}

function checkValue(field: string, value: RouteValue, path: Path, mistakes: RouteMistake[]): void {
  if (field === 'amount_atom') {
    if (!Number.isSafeInteger(value)) mistakes.push({ path, message: 'an amount is a whole number of atoms' });
    return;
  }
  if (typeof value !== 'string') {
    mistakes.push({ path, message: `${field} is text` });
    return;
  }
  const choices = enumerated[field];
  if (choices && !choices.includes(value)) mistakes.push({ path, message: `one of ${choices.join(', ')}` });
  const rule = patterns[field];
  if (rule && !rule.pattern.test(value)) mistakes.push({ path, message: rule.message });
}

function checkStrategy(strategy: RouteStrategy, path: Path, known: ReadonlySet<string> | null, mistakes: RouteMistake[]): void {
  const list = listOf(strategy);
  const processors = processorsOf(strategy);
  const at = [...path, list.key];
  if (processors.length === 0) mistakes.push({ path: at, message: 'name at least one connection' });
  if (processors.length > routeLimits.processors) mistakes.push({ path: at, message: `at most ${routeLimits.processors} connections` });
  const seen = new Set<string>();
  processors.forEach((processor, index) => {
    const where = [...at, index, ...list.leaf];
    // A fee table may hold one row per currency for the same connection.
    const identity = strategy.strategy === 'least_cost' ? `${processor} ${strategy.fees[index]?.currency ?? ''}` : processor;
    if (seen.has(identity)) mistakes.push({ path: where, message: 'named twice' });
    seen.add(identity);
    if (known && !known.has(processor)) mistakes.push({ path: where, message: `no such connection: ${processor}` });
  });
  if (strategy.strategy === 'split') {
    const sum = strategy.weights.reduce((total, weight) => total + weight.percent, 0);
    if (sum !== 100) mistakes.push({ path: at, message: `percentages sum to ${sum}, not to 100` });
  }
  if (strategy.fallback && new Set(strategy.fallback.on).size !== strategy.fallback.on.length) {
    mistakes.push({ path: [...path, 'fallback', 'on'], message: 'a class is named twice' });
  }
}

function listOf(strategy: RouteStrategy): { key: string; leaf: string[] } {
  if (strategy.strategy === 'split') return { key: 'weights', leaf: ['processor'] };
  if (strategy.strategy === 'least_cost') return { key: 'fees', leaf: ['processor'] };
  return { key: 'processors', leaf: [] };
}
