import { DomainError } from '../../errors/domain-error.js';

export const invoiceStatuses = ['draft', 'open', 'paid', 'void', 'past_due', 'uncollectible'] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

export const invoiceMoves = ['finalize', 'pay', 'fail', 'void', 'write_off', 'edit'] as const;
export type InvoiceMove = (typeof invoiceMoves)[number];

/** `past_due` is open whose charge failed or whose due date passed; uncollectible may still be paid. */
export const invoiceTable: Record<InvoiceStatus, Partial<Record<InvoiceMove, InvoiceStatus>>> = {
  draft: { finalize: 'open', void: 'void', edit: 'draft' },
  open: { pay: 'paid', fail: 'past_due', void: 'void', write_off: 'uncollectible' },
  past_due: { pay: 'paid', fail: 'past_due', void: 'void', write_off: 'uncollectible' },
  uncollectible: { pay: 'paid', void: 'void' },
  paid: {},
  void: {},
};

/** The status after a move, or null where the table refuses it. */
export function moveInvoice(from: InvoiceStatus, move: InvoiceMove): InvoiceStatus | null {
  return invoiceTable[from][move] ?? null;
}

/** What a person may ask for, in words; `fail` is what its payment or its due date does. */
const words: Record<Exclude<InvoiceMove, 'fail'>, string> = {
  finalize: 'be finalised', pay: 'be paid', void: 'be voided', write_off: 'be marked as uncollectible', edit: 'change its lines',
};

/** 409 naming the state and what it allows. */
export function refusedInvoice(from: InvoiceStatus, move: Exclude<InvoiceMove, 'fail'>): DomainError {
  const allowed = Object.keys(invoiceTable[from]).flatMap((each) => (each === 'fail' ? [] : [words[each as keyof typeof words]]));
  const may = allowed.length === 0 ? 'nothing' : allowed.join(', ');
  return new DomainError('invalid_state_transition', `An invoice that is ${from} cannot ${words[move]}; allowed: ${may}.`);
}

/** @throws DomainError 409 naming the state and what it allows. */
export function assertInvoiceMay(from: InvoiceStatus, move: Exclude<InvoiceMove, 'fail'>): void {
  if (!moveInvoice(from, move)) throw refusedInvoice(from, move);
}

/** Money can still be collected for it. */
export function isOwed(status: InvoiceStatus): boolean {
  return status === 'open' || status === 'past_due';
}
