import { LRUCache } from 'lru-cache';
import { routeDocument, routingContext, type KnownMapping, type RoutingContext } from '../db/payment-context.queries.js';
import type { ChargeRow, PaymentIntentRow } from '../db/schema/index.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import { mayTryElsewhere } from '../domain/payment/outcome.rules.js';
import { decideRoute, isSetAside, skipReason, type Candidate } from '../domain/route/route.decision.js';
import type { RouteDocument } from '../domain/route/route.document.js';
import type { AuthorizeCall } from '../processors/port.js';
import { publicId } from '../views/ids.js';
import { refusal, type StoredDecision } from './charge-outcome.js';
import { holdUp, stopsAgainst } from './charge-stop.js';
import { ChargingStopped, CollectionStopped, commitMove, type CommitOptions } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import type { HeldPayment } from './held-payment.js';
import type { Move } from './move.js';
import type { PaymentDeps } from './payment.deps.js';
import { pendingCharge } from './pending-charge.js';
import { candidatesOf, factsOf } from './route-candidates.js';
import { sealRequest, sendCharge } from './send-charge.js';
import { inTurn } from './simulate-trigger.js';

/** Versions of routes never change. */
const documents = new LRUCache<string, { document: RouteDocument }>({ max: 500 });

/** What the next attempt would be. */
export interface AttemptPlan {
  target: OpenConnection;
  call: AuthorizeCall;
  decision: StoredDecision;
  /** By which the card's refusals are counted. */
  fingerprint: string | null;
  /** Whether the method has a reference for unattended charges at the connection. */
  credentialKept: boolean;
}

/** Nothing may be tried now, and why. */
interface NoPlan {
  target: null;
  last: ChargeRow | undefined;
  decision: StoredDecision | null;
  /** UUIDs of the stops that keep it from being tried. */
  stops: string[];
}

/** Chooses a connection, writes the attempt, calls, writes the outcome; or ends this confirmation if nothing is left to try. */
export async function beginAttempt(deps: PaymentDeps, held: HeldPayment): Promise<HeldPayment> {
  const plan = await planAttempt(deps, held);
  if (plan.target === null) return plan.stops.length > 0 && !plan.last ? holdUp(deps, held, plan) : noCandidate(deps, held, plan);
  const { move, options } = attemptMove(deps, held, plan);
  const begun = await commitMove(deps, held, move, options).catch((error: unknown) => {
    if (error instanceof CollectionStopped) return null;
    if (error instanceof ChargingStopped) return held;
    throw error;
  });
  if (begun === held) return held;
  if (!begun) return noCandidate(deps, held, { last: triedIn(held).at(-1), decision: plan.decision });
  const sent = begunWith(plan, begun);
  return sendCharge(deps, sent, { charge: sent.charges.at(-1)!, connection: plan.target, call: plan.call, again: false });
}

/** Decides by route, attempts so far, limits and stops; changes no row. `known`: what routing asks, if it was read just now. */
export async function planAttempt(deps: PaymentDeps, held: HeldPayment, known?: RoutingContext): Promise<AttemptPlan | NoPlan> {
  const hard = held.charges.findLast((charge) => charge.outcomeClass === 'hard_decline' && charge.paymentMethodId === held.intent.paymentMethodId);
  if (hard) return { target: null, last: hard, decision: null, stops: [] };
  const context = known ?? (await routingContext(deps.db, held.intent, new Date(held.clock())));
  const connections = await deps.connections.ofAccount(held.intent.accountId, context.processorsStamp);
  const tried = triedIn(held);
  const last = tried.at(-1);
  const candidates = candidatesOf(deps, held.intent.accountId, context, connections);
  const decision = last ? continued(last) : await decide(deps, held.intent, context, candidates);
  const stops = stopsAgainst(context, decision);
  if (stops.length > 0) return { target: null, last, decision, stops };
  const target = decision ? nextTarget(deps, { decision, tried, candidates, connections, intent: held.intent }) : null;
  if (!decision || !target) return { target: null, last, decision, stops };
  if (!last) notePassedBy(deps, decision, connections);
  const mapping = context.mappings.find((each) => each.processor_id === target.id)!;
  return {
    target,
    call: callFor(deps, { held, mapping, target }),
    decision,
    fingerprint: countedFingerprint(mapping, target),
    credentialKept: mapping.network_transaction_id !== null,
  };
}

/** Attempts of the running confirmation, oldest first. */
function triedIn(held: HeldPayment): ChargeRow[] {
  return held.charges.filter((charge) => charge.confirmation === held.intent.confirmation);
}

/** The move that begins the attempt: a pending charge with the exact request. */
export function attemptMove(deps: PaymentDeps, held: HeldPayment, plan: AttemptPlan): { move: Move; options: Required<CommitOptions> } {
  const charge = newCharge(held, plan);
  const { connectMs, totalMs } = plan.target.deadlines;
  return {
    move: {
      step: `attempt:${charge.attemptNumber}`,
      newCharge: { ...charge, requestSealed: sealRequest(deps, charge.id, plan.call) },
      events: { charge: 'charge.created' },
    },
    options: { callLimitMs: connectMs + totalMs, processorKind: plan.target.kind },
  };
}

/** The payment whose last attempt is the one of the plan. */
export function begunWith({ credentialKept }: AttemptPlan, held: HeldPayment): HeldPayment {
  return { ...held, credentialKeptFor: credentialKept ? held.charges.at(-1)!.id : null };
}

/** So that breakers know when a probe is due. */
function notePassedBy(deps: PaymentDeps, { set_aside = [] }: StoredDecision, connections: ReadonlyMap<string, OpenConnection>): void {
  const passedBy = new Set(set_aside.filter(({ tried }) => tried === 'no').map(({ processor_id }) => processor_id));
  if (passedBy.size === 0) return;
  for (const connection of connections.values()) if (passedBy.has(connection.publicId)) deps.breakers.passBy(connection.id);
}

function continued(last: ChargeRow): StoredDecision {
  const decision = last.decision as unknown as StoredDecision;
  return { ...decision, fallback_reason: `${last.outcomeClass ?? 'unknown'} at attempt ${last.attemptNumber}` };
}

async function decide(
  deps: PaymentDeps,
  intent: PaymentIntentRow,
  context: RoutingContext,
  candidates: ReadonlyMap<string, Candidate>,
): Promise<StoredDecision | null> {
  if (!context.route || !context.method || context.method.status === 'detached') return null;
  const document = await documentOf(deps, context.route.id, context.route.version);
  if (!document) return null;
  const decision = decideRoute(document, factsOf(deps, intent, context), candidates);
  return { ...decision, route_id: publicId('route', deps.environment, context.route.id), version: context.route.version, fallback_reason: null };
}

async function documentOf(deps: PaymentDeps, routeId: string, version: number): Promise<RouteDocument | null> {
  const key = `${routeId}:${version}`;
  const known = documents.get(key);
  if (known) return known.document;
  const document = (await routeDocument(deps.db, routeId, version)) as RouteDocument | null;
  if (document) documents.set(key, { document });
  return document;
}

interface Choice {
  decision: StoredDecision;
  tried: readonly ChargeRow[];
  candidates: ReadonlyMap<string, Candidate>;
  connections: ReadonlyMap<string, OpenConnection>;
  intent: PaymentIntentRow;
}

function nextTarget(deps: PaymentDeps, { decision, tried, candidates, connections, intent }: Choice): OpenConnection | null {
  const last = tried.at(-1);
  if (last && !mayTryElsewhere({ ...last, outcomeClass: (last.outcomeClass ?? 'unknown') as OutcomeClass }, decision.fallback, tried.length)) return null;
  const used = new Set(tried.map((charge) => publicId('processor', deps.environment, charge.processorId)));
  const left = decision.order.filter((processorId) => !used.has(processorId) && skipReason(candidates.get(processorId), intent) === null);
  const next = left.find((processorId) => !isSetAside(candidates.get(processorId))) ?? left[0];
  return next ? ([...connections.values()].find((connection) => connection.publicId === next) ?? null) : null;
}

const noRoute = 'No route leads this payment: name one in `payment_route_id`, or set the account\'s `default_payment_route_id`';

async function noCandidate(deps: PaymentDeps, held: HeldPayment, why: { last: ChargeRow | undefined; decision: StoredDecision | null }): Promise<HeldPayment> {
  const refused = refusal(held.intent, 'refuse', why.last?.declineCode ?? 'no_processor_available');
  const told = why.last || why.decision?.route_id ? {} : { declineReason: noRoute };
  return commitMove(deps, held, {
    ...refused,
    step: `confirmation:${held.intent.confirmation}:refused`,
    intent: { ...refused.intent, ...told, decision: why.last ? held.intent.decision : (why.decision as Record<string, unknown> | null) },
    events: { intent: 'payment_intent.failed' },
  });
}

interface CallParts {
  held: HeldPayment;
  mapping: KnownMapping;
  target: OpenConnection;
}

function callFor(deps: PaymentDeps, { held, mapping, target }: CallParts): AuthorizeCall {
  const { intent } = held;
  const reference = `${intent.reference}-${intent.attempts + 1}`;
  return {
    reference,
    idempotencyKey: reference,
    amountAtom: intent.amountAtom,
    currency: intent.currency,
    capture: intent.captureMethod,
    theirPaymentMethodId: mapping.their_payment_method_id,
    offSession: intent.initiator === 'merchant',
    networkTransactionId: intent.initiator === 'merchant' ? mapping.network_transaction_id : null,
    simulate: inTurn(intent.simulate, intent.confirmation),
    // Only what a restored database makes again: with the same key the request must be the same.
    metadata: { payment: intent.reference },
    returnUrl: intent.returnUrl,
    callbackUrl: deps.callbackUrlFor(target),
  };
}

/** Test cards are everybody's: a simulator's declines are counted per card only where its connection asks for it. */
function countedFingerprint({ fingerprint }: KnownMapping, target: OpenConnection): string | null {
  if (target.kind === 'simulator' && target.settings.count_by_fingerprint !== true) return null;
  return fingerprint;
}

function newCharge(held: HeldPayment, { target, call, decision, fingerprint }: AttemptPlan): ChargeRow {
  const { intent } = held;
  return pendingCharge(intent, {
    attemptNumber: intent.attempts + 1,
    confirmation: intent.confirmation,
    processorId: target.id,
    reference: call.reference,
    idempotencyKey: call.idempotencyKey,
    fingerprint,
    leaseToken: held.lease.token,
    firstSentAt: new Date(),
    decision: decision as unknown as Record<string, unknown>,
    at: new Date(held.clock()),
  });
}
