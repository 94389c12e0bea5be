import { jest } from '@jest/globals';
import fc from 'fast-check';
import { hour, day } from '../../libs/domain/subscription/model/model.calendar.js';
import type { Act, Beginning, Seen } from '../../libs/domain/subscription/model/model.act.js';
import { ModelSubscription } from '../../libs/domain/subscription/model/model.subscription.js';
import { beginnings, histories } from '../../libs/domain/subscription/subscription.histories.js';
import { cardOf, chargesOf } from '../payments/shop.js';
import type { Answer } from '../support/account.js';
import { eventually } from '../support/stack.js';
import { advanceTo, onClock, toldOf, type Hall } from '../test-clocks/hall.js';
import { invoicesOf, openStore, priceOf, subOf, type Store } from './store.js';

const count = Number(process.env.SIGNALBOX_MODEL_HISTORIES ?? 6);
jest.setTimeout(60_000 + 20_000 * count);

const atOnce = 6;
const seed = Number(process.env.SIGNALBOX_MODEL_SEEDS ?? 4);
const frozen = Date.parse('2030-01-31T12:00:00.000Z');
const cards = { a: '4242424242424242', b: '5555555555554444', soft: '4000000000000341', poor: '4000000000009995', fraud: '4100000000000019' };
const answers = { a: 'approved', b: 'approved', soft: 'soft_decline', poor: 'insufficient_funds', fraud: 'risk_refused' } as const;
const told = ['created', 'trialing', 'activated', 'paused', 'resumed', 'resume_failed', 'past_due', 'unpaid', 'canceled', 'trial_will_end', 'dunning_started', 'dunning_ended'];

const methods = fc.constantFrom('a', 'b', 'soft', 'poor', 'fraud', null);
const lives = fc.tuple(
  beginnings.chain((some) =>
    fc.record({
      unit: fc.constantFrom('month' as const, 'week' as const),
      sold: fc.array(fc.record({ unitAtom: fc.integer({ min: 100, max: 20_000 }), quantity: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 2 }),
      method: some.trialDays > 0 ? methods : fc.constantFrom('a', 'soft', 'poor'),
    }).map((kind): Beginning => ({ ...some, ...kind, now: frozen, count: 1, balanceAtom: 0, outcomes: [], answers, jitterSeconds: 0, announceDays: 3 })),
  ),
  histories
    .map((acts) => acts.filter(({ does }) => does !== 'answer' && does !== 'items' && does !== 'interval').map((act) => (act.does === 'wait' ? { ...act, ms: Math.min(act.ms, 60 * day) + hour } : act)))
    .chain((acts) => fc.tuple(...acts.map((act): fc.Arbitrary<Act> => (act.does === 'method' ? methods.map((method) => ({ does: 'method', method })) : fc.constant(act)))))
    .filter((acts) => acts.length >= 5 && acts.length <= 14 && acts.filter(({ does }) => does === 'wait').length >= 2),
);

/** A subscription over HTTP, on a clock of its own. */
class Served {
  private now = frozen;

  private constructor(readonly hall: Hall, private readonly methods: Map<string | null, string | null>, readonly id: string) {}

  static async begin(store: Store, from: Beginning): Promise<Served> {
    const hall = await onClock(store, new Date(frozen).toISOString());
    const methods = new Map<string | null, string | null>([[null, null]]);
    for (const [name, number] of Object.entries(cards)) methods.set(name, await cardOf(hall, number));
    await chooses(hall, methods.get(from.method)!);
    const prices = await Promise.all(from.sold.map(({ unitAtom }) => priceOf(hall, { unit_amount_atom: unitAtom, billing_interval: from.unit, billing_interval_count: from.count })));
    const { retryHours, endsAfterHours, finalAction } = from.dunning;
    const answer = await hall.admin.post('/subscriptions/', {
      customer_id: hall.customer,
      selected_product_price_quantity: prices.map((price_id, n) => ({ price_id, quantity: from.sold[n]!.quantity })),
      starts_at: from.startsIn === null ? null : new Date(frozen + from.startsIn).toISOString(),
      trial_period_days: from.trialDays,
      trial_settings: { missing_payment_method: from.withoutMethod },
      collection_method: from.byInvoice ? 'send_invoice' : 'charge_automatically',
      net_d: from.netDays,
      total_billing_cycles: from.cycles,
      dunning_policy: { retry_hours: retryHours, ends_after_hours: endsAfterHours, final_action: finalAction, reminder_hours: [] },
    });
    if (answer.status !== 200) throw new Error(answer.text);
    return new Served(hall, methods, answer.body.created[0].id);
  }

  /** Answers null, or the code of the refusal. */
  async perform(act: Act): Promise<string | null> {
    if (act.does === 'wait') {
      this.now += act.ms;
      await advanceTo(this.hall, new Date(this.now).toISOString(), 60_000);
      return null;
    }
    if (act.does === 'method') {
      await chooses(this.hall, this.methods.get(act.method)!);
      return null;
    }
    const answer = await this.asks(act);
    return answer === null || answer.status === 200 ? null : answer.body.code;
  }

  private async asks(act: Act): Promise<Answer | null> {
    const { admin } = this.hall;
    const path = `/subscriptions/${this.id}`;
    const after = (ms: number) => new Date(this.now + ms).toISOString();
    switch (act.does) {
      case 'pause':
        return admin.put(`${path}/pause`, {});
      case 'pauseFor':
        return admin.put(`${path}/pause`, { resumption_date: after(act.ms) });
      case 'pauseCycles':
        return admin.put(`${path}/pause`, { number_of_billing_cycles_to_skip: act.cycles });
      case 'resume':
        return admin.put(`${path}/resume`, { proration_behavior: act.free ? 'none' : 'create_prorations' });
      case 'cancel':
        return admin.post(`${path}/cancel`, { cancel_unpaid_invoices: act.voids, full_refund: act.refunds, prorate: act.prorates });
      case 'cancelAtEnd':
        return admin.put(path, { cancel_at_end: act.set });
      case 'endTrial':
        return admin.post(`${path}/cancel-subscription-trial`);
      case 'moveTrialEnd':
        return admin.put(path, { trial_end: after(act.ms) });
      case 'byHand': {
        const all = await this.invoices();
        const owed = all.filter(({ status }) => status === 'open' || status === 'past_due');
        const named = act.to === 'paid' ? [...owed, ...all.filter(({ status }) => status === 'uncollectible')] : owed;
        const invoice = named[act.which % Math.max(1, named.length)];
        if (!invoice) return null;
        if (act.to === 'paid') return admin.post(`/invoices/${invoice.id}/pay`, { paid_out_of_band: true });
        return admin.post(`/invoices/${invoice.id}/${act.to === 'void' ? 'void' : 'mark_uncollectible'}`, {});
      }
      default:
        throw new Error(`${act.does} is not for HTTP`);
    }
  }

  private async invoices(): Promise<Answer['body'][]> {
    const all = await invoicesOf(this.hall, this.id);
    return all.sort((x, y) => (x.period_start < y.period_start ? -1 : x.period_start > y.period_start ? 1 : x.created_at < y.created_at ? -1 : 1));
  }

  async seen() {
    const sub = await subOf(this.hall, this.id);
    const invoices = await this.invoices();
    const attempts = await Promise.all(invoices.map(async ({ latest_payment_intent_id: intent }) => (intent ? (await chargesOf(this.hall, intent)).length : 0)));
    return {
      status: sub.status,
      billing: sub.billing_status,
      start: Date.parse(sub.current_period_start),
      end: Date.parse(sub.current_period_end),
      invoices: invoices.map((invoice, n) => ({
        start: Date.parse(invoice.period_start), end: Date.parse(invoice.period_end), totalAtom: invoice.total_amount_atom,
        dueAtom: invoice.due_amount_atom, paidAtom: invoice.paid_amount_atom, status: invoice.status, attempts: attempts[n],
      })),
    };
  }

  async told(): Promise<string[]> {
    const types = (await toldOf(this.hall, this.id)).map(({ type }) => type.replace('customer.subscription.', ''));
    return types.filter((type) => told.includes(type));
  }
}

async function chooses(hall: Hall, card: string | null): Promise<void> {
  const answer = await hall.admin.put(`/customers/${hall.customer}`, { default_payment_method_id: card });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** The model's view with what a list of charges can show. */
function withAttempts({ invoices, attempts, ...seen }: Seen) {
  const { told: _t, balanceAtom: _b, refundedAtom: _r, ...rest } = seen;
  const sorted = invoices.map((invoice, n) => ({ ...invoice, attempts: attempts.filter((attempt) => attempt.invoice === n).length }));
  return { ...rest, invoices: sorted };
}

async function live(store: Store, from: Beginning, history: Act[]): Promise<void> {
  const model = new ModelSubscription(from);
  const served = await Served.begin(store, from);
  const same = () =>
    eventually(
      async () => {
        expect(await served.seen()).toEqual(withAttempts(model.seen()));
        return true;
      },
      { timeoutMs: 90_000 },
    );
  const done: Act[] = [];
  try {
    await same();
    for (const act of history) {
      done.push(act);
      const [answered, expected] = [await served.perform(act), model.perform(act)];
      expect(answered).toBe(expected === 'payment_method_required_to_resume' ? 'payment_method_required' : expected);
      await same();
    }
    expect(await served.told()).toEqual(model.seen().told.filter((event) => told.includes(event)));
  } catch (error) {
    throw new Error(`${JSON.stringify(from)}\n${JSON.stringify(done)}\n${(error as Error).message}`, { cause: error });
  }
}

describe('a random history over HTTP, on a clock', () => {
  it('ends as in the reference model: status, periods, money, attempts and what was told', async () => {
    const store = await openStore();
    const sample = fc.sample(lives, { numRuns: count, seed });
    const failures: string[] = [];
    for (let first = 0; first < sample.length; first += atOnce) {
      const results = await Promise.allSettled(sample.slice(first, first + atOnce).map(([from, history]) => live(store, from, history)));
      failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [String((result.reason as Error).message)] : [])));
    }
    expect(failures).toEqual([]);
  });
});
