import fc from 'fast-check';
import type { ChargeOperationRow, ChargeRow, PaymentIntentRow, RefundRow } from '../db/schema/index.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import type { ToldDispute, ToldPayment, ToldRefund } from '../processors/port.js';
import { appliedMove } from './applied-move.js';
import { nextCallback, tellsNothingNew } from './callback-move.js';
import type { HeldPayment } from './held-payment.js';

const at = new Date('2030-01-01T00:00:00Z');
const stamps = { version: 1, createdAt: at, updatedAt: at };
const amount = 1_000;

function intentRow(set: Partial<PaymentIntentRow>): PaymentIntentRow {
  return {
    id: 'intent', accountId: 'account', amountAtom: amount, amountCapturableAtom: 0, amountReceivedAtom: 0, amountRefundedAtom: 0, currency: 'eur',
    status: 'processing', captureMethod: 'automatic', initiator: 'customer', confirmation: 1, attempts: 1, lastChargeId: 'charge', stoppedAt: null,
    ...stamps, ...set,
  } as unknown as PaymentIntentRow;
}

function chargeRow(set: Partial<ChargeRow>): ChargeRow {
  return {
    id: 'charge', accountId: 'account', paymentIntentId: 'intent', attemptNumber: 1, confirmation: 1, processorId: 'p', paymentMethodId: 'm',
    amountAtom: amount, currency: 'eur', status: 'pending', outcomeClass: null, reference: 'pi-1', processorPaymentId: null, declineCode: null,
    authorizedAtom: 0, capturedAtom: 0, refundedAtom: 0, voidedAt: null, isLate: false, disputed: false, lookups: 0, nextLookupAt: null, redirectUrl: null,
    decision: { order: [], fallback: { on: [], max_attempts: 1 } }, ...stamps, ...set,
  } as unknown as ChargeRow;
}

function operationRow(set: Partial<ChargeOperationRow>): ChargeOperationRow {
  return {
    id: 'operation', accountId: 'account', paymentIntentId: 'intent', chargeId: 'charge', status: 'pending', processorOperationId: null, refundId: null,
    firstSentAt: at, lookups: 0, nextLookupAt: at, ...stamps, ...set,
  } as unknown as ChargeOperationRow;
}

function heldOf(rows: { intent?: Partial<PaymentIntentRow>; charge?: Partial<ChargeRow>; operation?: Partial<ChargeOperationRow>; refund?: Partial<RefundRow> }): HeldPayment {
  return {
    clock: () => at.getTime(),
    lookupOffsets: [5_000],
    intent: intentRow(rows.intent ?? {}),
    charges: [chargeRow(rows.charge ?? {})],
    operations: rows.operation ? [operationRow(rows.operation)] : [],
    refunds: rows.refund ? [{ id: 'refund', chargeId: 'charge', paymentIntentId: 'intent', processorRefundId: null, status: 'pending', ...stamps, ...rows.refund } as RefundRow] : [],
    evidence: [], callbacks: [], disputes: [], kinds: new Map(), released: false, footing: null,
  } as unknown as HeldPayment;
}

const paid = { status: 'succeeded', outcomeClass: 'approved', authorizedAtom: amount, capturedAtom: amount, processorPaymentId: 'theirs' } as const;

/** Where a payment may stand when the first callback comes. */
const starts = {
  begun: heldOf({}),
  unknown: heldOf({ charge: { outcomeClass: 'unknown', nextLookupAt: at } }),
  'unknown, to be captured': heldOf({ intent: { captureMethod: 'manual' }, charge: { outcomeClass: 'unknown', nextLookupAt: at } }),
  pending: heldOf({ charge: { outcomeClass: 'pending', processorPaymentId: 'theirs', nextLookupAt: at } }),
  'thought to be absent': heldOf({ intent: { status: 'requires_payment_method' }, charge: { status: 'failed', outcomeClass: 'not_sent' } }),
  cancelled: heldOf({ intent: { status: 'canceled' }, charge: { status: 'failed', outcomeClass: 'not_sent' } }),
  'an exception': heldOf({ intent: { status: 'exception' }, charge: { outcomeClass: 'unknown' } }),
  authorised: heldOf({
    intent: { status: 'requires_capture', captureMethod: 'manual', amountCapturableAtom: amount },
    charge: { ...paid, capturedAtom: 0 },
  }),
  'being captured': heldOf({
    intent: { status: 'requires_capture', captureMethod: 'manual', amountCapturableAtom: amount },
    charge: { ...paid, capturedAtom: 0 },
    operation: { type: 'capture', purpose: 'capture', amountAtom: 700, reference: 'pi-1-capture-1' },
  }),
  'being cancelled': heldOf({
    intent: { status: 'requires_capture', captureMethod: 'manual', amountCapturableAtom: amount },
    charge: { ...paid, capturedAtom: 0 },
    operation: { type: 'void', purpose: 'cancel', amountAtom: amount, reference: 'pi-1-void-1' },
  }),
  'challenged, about to be released': heldOf({
    intent: { status: 'requires_action', captureMethod: 'manual' },
    charge: { outcomeClass: 'action_required', processorPaymentId: 'theirs', redirectUrl: 'https://bank.example/1' },
    operation: { type: 'void', purpose: 'release', amountAtom: amount, reference: 'pi-1-void-1' },
  }),
  paid: heldOf({ intent: { status: 'succeeded', amountReceivedAtom: amount }, charge: paid }),
  'being refunded': heldOf({
    intent: { status: 'succeeded', amountReceivedAtom: amount },
    charge: { ...paid, refundedAtom: 300 },
    operation: { type: 'refund', purpose: 'refund', amountAtom: 300, reference: 'pi-1-refund-1', refundId: 'refund' },
    refund: { amountAtom: 300 },
  }),
  'thought not to be refunded': heldOf({
    intent: { status: 'succeeded', amountReceivedAtom: amount },
    charge: paid,
    operation: { type: 'refund', purpose: 'refund', amountAtom: 300, reference: 'pi-1-refund-1', refundId: 'refund', status: 'failed' },
    refund: { amountAtom: 300, status: 'failed' },
  }),
};
type Start = keyof typeof starts;

interface Story {
  start: Start;
  firstPending: boolean;
  declined: boolean;
  /** What is captured of an authorised payment; 0: it is voided; null: neither. */
  captures: number | null;
  ownRefund: ToldRefund['status'][];
  otherRefunds: { amountAtom: number; statuses: ToldRefund['status'][] }[];
  disputes: ToldDispute['status'][][];
}

const refundPath = fc.constantFrom<ToldRefund['status'][]>(['pending'], ['succeeded'], ['failed'], ['pending', 'succeeded'], ['pending', 'failed'], ['pending', 'succeeded', 'failed']);
const disputePath = fc.constantFrom<ToldDispute['status'][]>(['open'], ['open', 'won'], ['open', 'lost'], ['won'], ['open', 'won', 'lost']);
const story: fc.Arbitrary<Story> = fc.record({
  start: fc.constantFrom(...(Object.keys(starts) as Start[])),
  firstPending: fc.boolean(),
  declined: fc.boolean(),
  captures: fc.constantFrom(null, 0, 700, amount),
  ownRefund: refundPath,
  otherRefunds: fc.array(fc.record({ amountAtom: fc.constantFrom(100, 150), statuses: refundPath }), { maxLength: 2 }),
  disputes: fc.array(disputePath, { maxLength: 2 }),
});

/** The provider's side: what happened there, and a snapshot after each thing that did. */
class Provider {
  readonly snapshots: ToldPayment[] = [];
  private readonly refunds = new Map<string, ToldRefund>();
  private readonly disputes = new Map<string, ToldDispute>();
  private outcomeClass: OutcomeClass = 'pending';
  private totals = { authorizedAmountAtom: 0, capturedAmountAtom: 0, refundedAmountAtom: 0, voided: false, disputed: false };

  constructor(private readonly manual: boolean) {}

  happens(outcomeClass: OutcomeClass, totals: Partial<ToldPayment['totals']> = {}): void {
    this.outcomeClass = outcomeClass;
    this.totals = { ...this.totals, ...totals };
    this.tell();
  }

  approve(): void {
    this.happens('approved', { authorizedAmountAtom: amount, capturedAmountAtom: this.manual ? 0 : amount });
  }

  refund(id: string, rest: Omit<ToldRefund, 'processorRefundId'>): void {
    this.refunds.set(id, { processorRefundId: id, ...rest });
    this.tell();
  }

  dispute(id: string, status: ToldDispute['status']): void {
    this.disputes.set(id, { processorDisputeId: id, reason: 'fraudulent', amountAtom: amount, status });
    this.tell();
  }

  get captured(): number {
    return this.totals.capturedAmountAtom;
  }

  private tell(): void {
    this.snapshots.push({
      reference: 'pi-1', processorPaymentId: 'theirs', amountAtom: amount, currency: 'eur', createdAt: null,
      outcome: { outcomeClass: this.outcomeClass, declineCode: this.outcomeClass === 'soft_decline' ? 'do_not_honor' : null },
      totals: { ...this.totals }, refunds: [...this.refunds.values()], disputes: [...this.disputes.values()],
    });
  }
}

function told(story: Story): ToldPayment[] {
  const start = starts[story.start];
  const provider = new Provider(start.intent.captureMethod === 'manual');
  const mayDecline = start.charges[0]!.status !== 'succeeded';
  if (story.firstPending) provider.happens('pending');
  if (story.declined && mayDecline) {
    provider.happens('soft_decline');
    return provider.snapshots;
  }
  provider.approve();
  if (start.intent.captureMethod === 'manual') {
    if (story.captures === 0) provider.happens('approved', { voided: true });
    else if (story.captures !== null) provider.happens('approved', { capturedAmountAtom: start.operations[0]?.amountAtom ?? story.captures });
  }
  const own = start.operations.find((operation) => operation.type === 'refund');
  if (own) for (const status of story.ownRefund) provider.refund('own', { reference: own.reference, amountAtom: own.amountAtom, status });
  if (provider.captured > 0) {
    story.otherRefunds.forEach(({ amountAtom, statuses }, index) => {
      for (const status of statuses) provider.refund(`other-${index}`, { reference: null, amountAtom, status });
    });
  }
  story.disputes.forEach((statuses, index) => statuses.forEach((status) => provider.dispute(`dispute-${index}`, status)));
  return provider.snapshots;
}

/** The callbacks come one by one, and each is applied before the next one comes. */
function after(start: HeldPayment, payments: ToldPayment[]): HeldPayment {
  let held = start;
  for (const [index, payment] of payments.entries()) {
    held = { ...held, callbacks: [...held.callbacks, { id: `callback-${index}`, chargeId: 'charge', payment }] };
    for (let steps = 0; ; steps += 1) {
      const next = nextCallback(held, 'staging');
      if (!next) break;
      expect(steps).toBeLessThan(20);
      held = appliedMove(held, next.move, at);
      expectSound(held);
    }
  }
  return held;
}

function expectSound({ intent, charges: [charge] }: HeldPayment): void {
  expect(charge!.capturedAtom).toBeLessThanOrEqual(charge!.authorizedAtom);
  expect(charge!.refundedAtom).toBeLessThanOrEqual(charge!.capturedAtom);
  expect(charge!.refundedAtom).toBeGreaterThanOrEqual(0);
  expect(intent.amountReceivedAtom).toBeLessThanOrEqual(intent.amountAtom);
  expect(intent.amountRefundedAtom).toBeLessThanOrEqual(intent.amountReceivedAtom);
}

function stateOf({ intent, charges: [charge], operations, refunds, disputes, callbacks }: HeldPayment) {
  const { status, amountReceivedAtom, amountCapturableAtom, amountRefundedAtom } = intent;
  const { authorizedAtom, capturedAtom, refundedAtom, voidedAt, isLate, disputed } = charge!;
  return {
    intent: { status, amountReceivedAtom, amountCapturableAtom, amountRefundedAtom },
    charge: { status: charge!.status, authorizedAtom, capturedAtom, refundedAtom, voided: voidedAt !== null, isLate, disputed },
    operations: operations.map((each) => [each.type, each.purpose, each.amountAtom, each.status]),
    refunds: refunds.map((each) => [each.processorRefundId ?? each.reason, each.amountAtom, each.status].join()).sort(),
    disputes: disputes.map((each) => [each.theirDisputeId, each.status].join()).sort(),
    waiting: callbacks.length,
  };
}

describe('the callbacks of one payment', () => {
  it('end in one state in every order, with repetitions, and with the last one alone', () => {
    fc.assert(
      fc.property(
        story.chain((one) => {
          const payments = told(one);
          return fc.record({
            one: fc.constant(one),
            payments: fc.constant(payments),
            shuffled: fc.shuffledSubarray([...payments, ...payments], { minLength: payments.length * 2 }),
          });
        }),
        ({ one, payments, shuffled }) => {
          const inOrder = stateOf(after(starts[one.start], payments));
          expect(stateOf(after(starts[one.start], shuffled))).toEqual(inOrder);
          expect(stateOf(after(starts[one.start], payments.slice(-1)))).toEqual(inOrder);
        },
      ),
      { numRuns: 600 },
    );
  }, 60_000);

  it('say nothing new once they were applied', () => {
    fc.assert(
      fc.property(story, (one) => {
        const payments = told(one);
        const held = after(starts[one.start], payments);
        for (const payment of payments) {
          if (held.operations.some((each) => each.purpose === 'late')) continue;
          expect(tellsNothingNew(held, { chargeId: 'charge', payment }, 'staging')).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('a callback', () => {
  const approved = told({ start: 'begun', firstPending: false, declined: false, captures: null, ownRefund: [], otherRefunds: [], disputes: [] })[0]!;
  const results = (start: HeldPayment, payment: ToldPayment) => {
    const held = { ...start, callbacks: [{ id: 'one', chargeId: 'charge', payment }] };
    return nextCallback(held, 'staging')?.move;
  };

  it('with another amount or currency is an exception while the attempt has no outcome', () => {
    for (const other of [{ amountAtom: amount + 1 }, { currency: 'usd' }]) {
      const move = results(starts.unknown, { ...approved, ...other });
      expect(move).toMatchObject({ intent: { status: 'exception' }, charge: { set: { outcomeClass: 'mismatch' } }, appliedCallback: { result: 'applied' } });
    }
  });

  it('with another amount changes nothing that is settled, and is shown to a person', () => {
    expect(results(starts.paid, { ...approved, amountAtom: 1 })).toMatchObject({ attention: { type: 'callback_mismatch' }, appliedCallback: { result: 'attention' } });
  });

  it('about a second payment under the same reference is shown to a person', () => {
    const move = results(starts.paid, { ...approved, processorPaymentId: 'another' });
    expect(move).toMatchObject({ attention: { type: 'charged_twice' }, appliedCallback: { result: 'attention' } });
    expect(move?.charge).toBeUndefined();
  });

  it('of a refund without a reference waits while one of ours of that amount has no answer', () => {
    const refund: ToldRefund = { processorRefundId: 'x', reference: null, amountAtom: 300, status: 'succeeded' };
    expect(results(starts['being refunded'], { ...approved, refunds: [refund] })).toBeUndefined();
    expect(results(starts['being refunded'], { ...approved, refunds: [{ ...refund, amountAtom: 299 }] })).toMatchObject({ newRefund: { refundedOutOfBand: true } });
  });

  it('of a refund of an attempt without outcome waits for the outcome', () => {
    const refund: ToldRefund = { processorRefundId: 'x', reference: null, amountAtom: 300, status: 'succeeded' };
    const early = { ...approved, amountAtom: null, outcome: { outcomeClass: 'unknown' as const }, refunds: [refund] };
    const waiting = after(starts.unknown, [early]);
    expect(waiting.callbacks).toHaveLength(1);
    expect(stateOf(after(starts.unknown, [early, approved]))).toEqual(stateOf(after(starts.unknown, [approved, early])));
  });
});
