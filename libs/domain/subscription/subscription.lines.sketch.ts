import type { InvoiceDraft, InvoiceLine, PendingLine } from '../invoice/invoice.draft.js';
import type { BilledLine } from '../invoice/proration.lines.js';
import type { InvoiceFacts, Plan } from './plan.js';

interface Stored {
  id: string;
  line: InvoiceLine;
  invoiceId: string | null;
  dropped: boolean;
  /** It waited before its invoice took it in. */
  waited: boolean;
}

/** The invoice lines of one subscription in memory, read as the database reads them. */
export class LinesSketch {
  readonly all: Stored[] = [];

  constructor(private readonly invoices: InvoiceFacts[]) {}

  store(plan: Plan, invoiceId: string | null): void {
    for (const id of plan.dropped) this.find(id).dropped = true;
    if (plan.invoice && invoiceId) this.take(plan.invoice, invoiceId);
    for (const line of plan.pending) this.add(line, null);
    if (plan.invoice?.carried) this.add({ ...plan.invoice.carried, carriedFromInvoiceId: invoiceId }, null);
  }

  pending(): PendingLine[] {
    const waiting = this.all.filter(({ invoiceId, dropped }) => invoiceId === null && !dropped);
    return waiting.map(({ id, line }) => ({ ...line, pendingId: id, isOwn: true, isBacked: this.isBacked(line), debitInvoiceId: this.debitOf(line)?.invoiceId ?? null }));
  }

  billed(): BilledLine[] {
    const latest = this.latest();
    const first = latest ? this.all.findIndex(({ invoiceId }) => invoiceId === latest.id) : 0;
    const debits = this.all.filter((stored, n) => this.isStanding(stored) && (!latest || (stored.line.periodStart >= latest.periodStart && (stored.invoiceId === latest.id || n >= first))));
    const newest = new Map(debits.map((stored) => [stored.line.subscriptionItemId, stored]));
    return [...newest.values()].map(({ id, line, invoiceId }) => ({ ...line, id, invoice: invoiceId ? this.invoice(invoiceId) : null }));
  }

  periodInvoices(): InvoiceFacts[] {
    const latest = this.latest();
    const current = this.invoices.slice(this.invoices.indexOf(latest!)).filter(({ status }) => status === 'paid');
    return current.map((invoice) => ({ ...invoice, broughtAtom: this.broughtInto(invoice) + this.creditTakenBy(invoice, latest!) }));
  }

  private broughtInto({ id, beginsPeriod, billingReason, periodStart }: InvoiceFacts): number {
    if (!beginsPeriod || billingReason !== 'subscription_update') return 0;
    const back = this.all.filter(({ invoiceId, waited, line }) => invoiceId === id && !waited && line.debitItemId && line.periodStart.getTime() === periodStart.getTime());
    return -back.reduce((sum, { line }) => sum + line.amountAtom, 0);
  }

  private creditTakenBy({ id }: InvoiceFacts, latest: InvoiceFacts): number {
    const begun = this.all.findIndex(({ invoiceId, waited }) => invoiceId === latest.id && !waited);
    const isEarlier = (line: InvoiceLine, n: number) => n < begun || line.periodStart < latest.periodStart || this.wasBilledBefore(line, latest);
    const taken = this.all.filter(({ invoiceId, waited, line }, n) => invoiceId === id && waited && isEarlier(line, n));
    return Math.max(0, -taken.reduce((sum, { line }) => sum + line.amountAtom, 0));
  }

  private wasBilledBefore(line: InvoiceLine, latest: InvoiceFacts): boolean {
    const billed = this.debitOf(line)?.invoiceId;
    return billed != null && this.invoices.indexOf(this.invoice(billed)) < this.invoices.indexOf(latest);
  }

  /** The last period that was invoiced, also where nothing was collected for it. */
  private latest(): InvoiceFacts | undefined {
    return this.invoices.findLast(({ beginsPeriod }) => beginsPeriod);
  }

  /** Of all invoices and of what waits for one. */
  sum(): number {
    return this.all.filter(({ dropped }) => !dropped).reduce((sum, { line }) => sum + line.amountAtom, 0);
  }

  /** Debits that nobody has paid, less what of them was given back, or was to be. */
  unpaid(): number {
    const debits = this.all.filter(({ line: { amountAtom, debitItemId }, invoiceId }) => amountAtom > 0 && !debitItemId && (invoiceId === null || this.invoice(invoiceId).status !== 'paid'));
    return debits.reduce((sum, { id, line }) => sum + line.amountAtom + (this.all.find((other) => other.line.debitItemId === id)?.line.amountAtom ?? 0), 0);
  }

  /** What a voided invoice leaves behind, as the database writes it; answers what becomes the customer's credit. */
  release(invoiceId: string, ended: boolean): number {
    const taken = this.all.filter((stored) => stored.invoiceId === invoiceId && stored.waited);
    if (!ended) for (const stored of taken) this.waitAgain(stored);
    const own = new Set(this.all.filter((stored) => stored.invoiceId === invoiceId).map(({ id }) => id));
    const credits = this.all.filter((stored) => own.has(stored.line.debitItemId ?? '') && stored.invoiceId !== invoiceId && !stored.dropped);
    for (const credit of credits) {
      if (credit.invoiceId !== null && !this.isVoid(credit)) throw new Error('what was never paid was given back');
      if (credit.invoiceId === null) credit.dropped = true;
    }
    const sum = taken.reduce((total, { line }) => total + (this.isBacked(line) ? line.amountAtom : 0), 0);
    return ended ? Math.max(0, -sum) : 0;
  }

  private waitAgain(stored: Stored): void {
    this.add(stored.line, null);
    const again = this.all.at(-1)!.id;
    for (const other of this.all) if (other.line.debitItemId === stored.id && other.invoiceId !== stored.invoiceId) other.line = { ...other.line, debitItemId: again };
  }

  private isStanding({ id, line, invoiceId, dropped }: Stored): boolean {
    const counts = line.subscriptionItemId !== null && line.amountAtom > 0 && !line.debitItemId && !dropped;
    const isVoid = invoiceId !== null && this.invoice(invoiceId).status === 'void';
    return counts && !isVoid && !this.all.some((other) => other.line.debitItemId === id && !other.dropped && !this.isVoid(other));
  }

  private debitOf({ debitItemId }: InvoiceLine): Stored | null {
    return debitItemId ? this.find(debitItemId) : null;
  }

  private isBacked(line: InvoiceLine): boolean {
    const debit = this.debitOf(line);
    return !debit || (debit.invoiceId === null ? !debit.dropped : this.invoice(debit.invoiceId).status === 'paid');
  }

  private isVoid({ invoiceId }: Stored): boolean {
    return invoiceId !== null && this.invoice(invoiceId).status === 'void';
  }

  private take(draft: InvoiceDraft, invoiceId: string): void {
    for (const line of draft.lines) {
      if (line.pendingId) Object.assign(this.find(line.pendingId), { invoiceId, waited: true });
      else this.add(line, invoiceId);
    }
  }

  private add(line: InvoiceLine, invoiceId: string | null): void {
    this.all.push({ id: `line-${this.all.length + 1}`, line, invoiceId, dropped: false, waited: false });
  }

  private find(id: string): Stored {
    return this.all.find((stored) => stored.id === id)!;
  }

  private invoice(id: string): InvoiceFacts {
    return this.invoices.find((invoice) => invoice.id === id)!;
  }
}
