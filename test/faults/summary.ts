import type { Call, Records } from './records.js';
import type { TravelsOutcome } from './travels.js';

/** What a run was made of, for people. */
export class Summary {
  readonly counts: Record<string, number> = {};
  readonly failed: TravelsOutcome['failed'] = [];
  /** What should not happen, and breaks no rule. */
  readonly surprises: string[] = [];
  private readonly startedAt = performance.now();
  private seconds = 0;

  count(what: string, times = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + times;
  }

  disturbed(counts: Record<string, number>, failures: number): void {
    for (const [what, times] of Object.entries(counts)) this.count(what, times);
    this.count('webhooks answered with a failure', failures);
  }

  travelled(outcome: TravelsOutcome, calls: readonly Call[]): void {
    for (const [kind, times] of Object.entries(outcome.journeys)) this.count(`journey ${kind}`, times);
    this.failed.push(...outcome.failed);
    this.count('seconds of journeys', Math.round((performance.now() - this.startedAt) / 1_000));
    this.count('calls', calls.length);
    for (const call of calls) {
      if (call.status === null) this.count('calls without answer');
      if (call.status === 500) this.surprises.push(`an internal error was answered: call ${call.number} of ${call.journey}: ${call.method} ${call.path}: ${JSON.stringify(call.answer).slice(0, 300)}`);
      else if (call.status !== null && call.status >= 400) this.count(`answer ${call.status} ${call.answer?.code ?? ''}`.trim());
    }
  }

  add({ books, heard, payments }: Records): void {
    this.count('accounts');
    this.count('payments', books.intents.length);
    this.count('attempts', books.charges.length);
    this.count('payments at the provider', payments.length);
    this.count('captures, voids, refunds', books.operations.length);
    this.count('events', books.events.length);
    this.count('posts received', heard.length);
    this.count('duplicates received', heard.length - new Set(heard.map(({ eventId, endpoint }) => `${eventId} ${endpoint}`)).size);
    this.count('on the attention list', books.attention.length);
    for (const intent of books.intents) this.count(`payment ${intent.status}`);
    const unknown = new Set(books.events.filter(({ told }) => told.outcome === 'unknown').map(({ object }) => object));
    this.count('outcomes that were unknown', unknown.size);
    this.count('unknown outcomes resolved', books.charges.filter(({ id, status }) => unknown.has(id) && status !== 'pending').length);
  }

  end(): void {
    this.seconds = Math.round((performance.now() - this.startedAt) / 1_000);
    this.count('seconds', this.seconds);
  }

  print(write: (text: string) => void): void {
    const width = Math.max(...Object.keys(this.counts).map(({ length }) => length));
    for (const [what, times] of Object.entries(this.counts).toSorted(([one], [other]) => one.localeCompare(other))) write(`  ${what.padEnd(width)}  ${times}\n`);
    for (const surprise of this.surprises.slice(0, 20)) write(`  surprise: ${surprise}\n`);
    for (const { name, error } of this.failed) write(`  a journey ended early: ${name}: ${error}\n`);
  }
}
