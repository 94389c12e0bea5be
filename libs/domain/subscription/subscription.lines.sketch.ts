import type { InvoiceDraft, InvoiceLine, PendingLine } from '../invoice/invoice.draft.js';
import type { BilledLine } from '../invoice/proration.lines.js';
import type { InvoiceFacts, Plan } from './plan.js';

interface Stored {
  id: string;
  line: InvoiceLine;
  invoiceId: string | null;
  dropped: boolean;
}

/** The invoice lines of one subscription in memory, read as the database reads them. */
export class LinesSketch {
  readonly all: Stored[] = [];

  constructor(private readonly invoices: InvoiceFacts[]) {}

  store(plan: Plan, invoiceId: string | null): void {
    for (const id of plan.dropped) this.find(id).dropped = true;
    if (plan.invoice && invoiceId) this.take(plan.invoice, invoiceId);
    for (const line of plan.pending) this.add(line, null);
    if (plan.invoice?.carried) this.add(plan.invoice.carried, null);
  }

  pending(): PendingLine[] {
    return this.all.filter(({ invoiceId, dropped }) => invoiceId === null && !dropped).map(({ id, line }) => ({ ...line, pendingId: id, isOwn: true, isBacked: this.isBacked(line) }));
  }

  billed(): BilledLine[] {
    const latest = this.latest();
    const debits = this.all.filter((stored) => this.isStanding(stored) && (!latest || stored.line.periodEnd >= latest.periodEnd));
    const newest = new Map(debits.map((stored) => [stored.line.subscriptionItemId, stored]));
    return [...newest.values()].map(({ id, line, invoiceId }) => ({ ...line, id, invoice: invoiceId ? this.invoice(invoiceId) : null }));
  }

  periodInvoices(): InvoiceFacts[] {
    const latest = this.latest();
    return this.invoices.filter(({ status, periodEnd }) => status === 'paid' && periodEnd >= latest!.periodEnd);
  }

  /** The last period that was invoiced, also where nothing was collected for it. */
  private latest(): InvoiceFacts | undefined {
    return this.invoices.findLast(({ beginsPeriod }) => beginsPeriod);
  }

  /** Of all invoices and of what waits for one. */
  sum(): number {
    return this.all.filter(({ dropped }) => !dropped).reduce((sum, { line }) => sum + line.amountAtom, 0);
  }

  private isStanding({ id, line, invoiceId, dropped }: Stored): boolean {
    const counts = line.subscriptionItemId !== null && line.amountAtom > 0 && !line.debitItemId && !dropped;
    const isWorthless = invoiceId !== null && ['void', 'uncollectible'].includes(this.invoice(invoiceId).status);
    return counts && !isWorthless && !this.all.some((other) => other.line.debitItemId === id && !other.dropped);
  }

  private isBacked({ debitItemId }: InvoiceLine): boolean {
    const debit = debitItemId ? this.find(debitItemId) : null;
    return !debit || debit.invoiceId === null || this.invoice(debit.invoiceId).status === 'paid';
  }

  private take(draft: InvoiceDraft, invoiceId: string): void {
    for (const line of draft.lines) {
      if (line.pendingId) this.find(line.pendingId).invoiceId = invoiceId;
      else this.add(line, invoiceId);
    }
  }

  private add(line: InvoiceLine, invoiceId: string | null): void {
    this.all.push({ id: `line-${this.all.length + 1}`, line, invoiceId, dropped: false });
  }

  private find(id: string): Stored {
    return this.all.find((stored) => stored.id === id)!;
  }

  private invoice(id: string): InvoiceFacts {
    return this.invoices.find((invoice) => invoice.id === id)!;
  }
}
