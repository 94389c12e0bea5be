import type { EmailKind } from '../email/email.js';
import type { BillableItem } from '../invoice/invoice.draft.js';
import type { OutcomeClass } from '../payment/outcome.js';
import { planCancel, type CancelInput } from './cancel-subscription.js';
import { planCreate, type NewSubscription } from './create-subscription.js';
import { planPause, type PauseInput } from './pause-subscription.js';
import { defaultDunningPolicy } from './dunning-policy.js';
import { itemsAfter } from './item-changes.js';
import type { BillingRules, Facts, InvoiceFacts, ItemPrice, Plan } from './plan.js';
import { planResume } from './resume-subscription.js';
import { planStep } from './step-subscription.js';
import { stateOf, type State } from './subscription.machine.js';
import { LinesSketch } from './subscription.lines.sketch.js';
import { nextDue } from './subscription.schedule.js';
import type { SubscriptionState } from './subscription.state.js';
import { planUpdate, type UpdateInput } from './update-subscription.js';

export const hour = 3_600_000;
export const day = 24 * hour;
/** A few facts at one moment: periods that downtime has missed, and the payments of all that is owed. */
const mostSteps = 30;
export const start = new Date('2027-01-31T12:00:00.000Z');
export const noCancelOptions: CancelInput = { cancelUnpaidInvoices: false, fullRefund: false, prorate: true, details: null };

interface World {
  now: Date;
  method: string | null;
  outcomes: (OutcomeClass | 'unresolved')[];
  price: number;
  rules?: Partial<BillingRules>;
  prices?: ItemPrice[];
  minimumAtom?: number;
}

/** One subscription in memory: plans are applied as the database would, payments answer as told. */
export class Sketch {
  s!: SubscriptionState;
  events: string[] = [];
  invoices: InvoiceFacts[] = [];
  charges: { at: Date; invoiceId: string }[] = [];
  announced: { at: Date; totalAtom: number }[] = [];
  reminders: { at: Date; invoiceId: string }[] = [];
  emails: EmailKind[] = [];
  credit = 0;
  refunded = 0;
  items: BillableItem[];
  lines = new LinesSketch(this.invoices);
  visited = new Set<State>();

  constructor(readonly world: World, input: Partial<NewSubscription> = {}) {
    const terms = { ...defaults, ...input };
    this.items = [{ ...item, unitAmountAtom: world.price, interval: { unit: terms.billingInterval, count: terms.billingIntervalCount } }];
    this.apply(planCreate(terms, this.facts()));
  }

  facts(): Facts {
    const open = this.invoices.filter(({ status }) => status === 'open' || status === 'past_due');
    return {
      now: this.world.now,
      jitterSeconds: 30,
      rules: { dunningPolicy: defaultDunningPolicy, upcomingDays: 3, ...this.world.rules },
      items: this.items,
      paymentMethodId: this.world.method,
      balanceAtom: 0,
      pending: this.lines.pending(),
      billed: this.lines.billed(),
      periodInvoices: this.lines.periodInvoices(),
      prices: this.world.prices ?? [],
      minimumAtom: this.world.minimumAtom ?? 0,
      openInvoices: open,
      charging: this.invoices.find(({ id }) => id === this.s?.chargingInvoiceId) ?? null,
      latestInvoice: this.invoices.findLast(({ status }) => status !== 'draft') ?? null,
    };
  }

  apply(plan: Plan | null): void {
    if (!plan) return;
    this.s = plan.next;
    this.visited.add(stateOf(this.s));
    this.events.push(...plan.events);
    if (plan.upcoming) this.announced.push({ at: this.world.now, totalAtom: plan.upcoming.totalAtom });
    this.emails.push(...plan.emails.map(({ kind }) => kind));
    for (const id of plan.reminded) this.remind(id);
    this.credit += plan.creditAtom + (plan.invoice?.creditedAtom ?? 0);
    this.refunded += plan.refunds.reduce((sum, { amountAtom }) => sum + amountAtom, 0);
    this.items = itemsAfter(itemsAfter(this.items, plan.items), plan.invoice?.turnover ?? []);
    this.lines.store(plan, plan.invoice ? this.finalise(plan.invoice) : null);
    for (const closed of plan.closed) this.invoice(closed.invoiceId).status = closed.as;
    if (plan.charge) this.charge(plan.charge.invoiceId);
  }

  command(make: (s: SubscriptionState, facts: Facts) => Plan | null): void {
    this.apply(make(this.s, this.facts()));
  }

  /** Runs everything that falls due until `ms` later. */
  pass(ms: number): void {
    const until = new Date(this.world.now.getTime() + ms);
    for (let moments = 0; moments < 1_000; moments += 1) {
      this.rest();
      const due = nextDue(this.s);
      if (!due || due.at > until) return void (this.world.now = until);
      if (due.at <= this.world.now) throw new Error(`${due.kind} is due and nothing happens`);
      this.world.now = due.at;
    }
    throw new Error('never rests');
  }

  /** Runs what is due now. */
  rest(): void {
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const plan = planStep(this.s, this.facts());
      if (!plan) return;
      this.apply(plan);
    }
    throw new Error(`no rest after ${mostSteps} steps at one moment`);
  }

  pay(id: string): void {
    settle(this.invoice(id), 'approved');
    this.rest();
  }

  answer(outcome: OutcomeClass): void {
    for (const invoice of this.invoices) if (invoice.payment === 'unresolved') settle(invoice, outcome);
  }

  private charge(invoiceId: string): void {
    const invoice = this.invoice(invoiceId);
    expect(['open', 'past_due']).toContain(invoice.status);
    expect(this.s.status === 'cancelled' || (this.s.status === 'paused' && !this.s.resuming)).toBe(false);
    this.charges.push({ at: this.world.now, invoiceId });
    settle(invoice, this.world.outcomes.shift() ?? 'approved');
  }

  private remind(id: string): void {
    this.invoice(id).reminderSentAt = this.world.now;
    this.reminders.push({ at: this.world.now, invoiceId: id });
  }

  invoice(id: string): InvoiceFacts {
    return this.invoices.find((candidate) => candidate.id === id)!;
  }

  private finalise(draft: NonNullable<Plan['invoice']>): string {
    const isUpdate = draft.billingReason === 'subscription_update';
    const duplicate = this.invoices.some(({ periodStart }) => periodStart.getTime() === draft.periodStart.getTime());
    expect(duplicate && !isUpdate).toBe(false);
    const id = `invoice-${this.invoices.length + 1}`;
    const paidAtom = draft.status === 'paid' ? draft.dueAtom : 0;
    this.invoices.push({ ...draft, id, paidAtom, refundedAtom: 0, payment: 'none', failure: null });
    return id;
  }
}

function settle(invoice: InvoiceFacts, outcome: OutcomeClass | 'unresolved'): void {
  invoice.payment = outcome === 'unresolved' ? 'unresolved' : outcome === 'approved' ? 'succeeded' : 'at_rest';
  if (outcome === 'approved') {
    invoice.status = 'paid';
    invoice.paidAtom = invoice.dueAtom;
  } else if (outcome !== 'unresolved') {
    invoice.status = 'past_due';
    invoice.failure = outcome;
  }
}

const item = {
  id: 'item', priceId: 'price', productId: 'product', name: 'Plan', description: null, quantity: 1,
  unitAmountAtom: 3_100, pricingModel: 'standard', transformQuantityDivideBy: 1, currency: 'eur',
};
const defaults: NewSubscription = {
  id: 'sub', currency: 'eur', billingInterval: 'month', billingIntervalCount: 1, startsAt: null, trialEnd: null, trialDays: 0,
  missingPaymentMethod: 'pause', collectionMethod: 'charge_automatically', netD: null, description: null, customFields: null,
  defaultPaymentMethodId: null, paymentRouteId: null, cancelAtEnd: false, totalBillingCycles: null,
};

export function world(part: Partial<World> = {}): World {
  return { now: start, method: 'method', outcomes: [], price: 3_100, ...part };
}

export function begin(input: Partial<NewSubscription> = {}, part: Partial<World> = {}): Sketch {
  const sketch = new Sketch(world(part), input);
  sketch.pass(1_000);
  return sketch;
}

export const pause = (input: PauseInput = {}) => (s: SubscriptionState, facts: Facts) => planPause(s, input, facts);
export const resume = (s: SubscriptionState, facts: Facts) => planResume(s, { automatic: false, proration: 'create_prorations' }, facts);
export const cancel = (input: Partial<CancelInput> = {}) => (s: SubscriptionState, facts: Facts) =>
  planCancel(s, { ...noCancelOptions, ...input }, facts);
export const update = (input: UpdateInput) => (s: SubscriptionState, facts: Facts) => planUpdate(s, input, facts);
export const iso = (date: Date | null) => date?.toISOString().slice(0, 19);
