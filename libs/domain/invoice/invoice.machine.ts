export const invoiceStatuses = ['draft', 'open', 'paid', 'void', 'past_due', 'uncollectible'] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

export const invoiceMoves = ['finalize', 'pay', 'fail', 'void', 'write_off'] as const;
export type InvoiceMove = (typeof invoiceMoves)[number];

/** `past_due` is open whose charge failed or whose due date passed; uncollectible may still be paid. */
export const invoiceTable: Record<InvoiceStatus, Partial<Record<InvoiceMove, InvoiceStatus>>> = {
  draft: { finalize: 'open', void: 'void' },
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

/** Money can still be collected for it. */
export function isOwed(status: InvoiceStatus): boolean {
  return status === 'open' || status === 'past_due';
}
