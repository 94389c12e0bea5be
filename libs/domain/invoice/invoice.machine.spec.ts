import fc from 'fast-check';
import { planFinalisation } from './invoice.finalisation.js';
import { invoiceMoves, invoiceStatuses, invoiceTable, moveInvoice, refusedInvoice } from './invoice.machine.js';

describe('the states of an invoice', () => {
  it('reaches each one from a draft', () => {
    const reached = new Set<string>(['draft']);
    for (const from of reached) for (const to of Object.values(invoiceTable[from as keyof typeof invoiceTable])) reached.add(to);
    expect([...reached].sort()).toEqual([...invoiceStatuses].sort());
  });

  it('never leaves paid or void, and never becomes a draft again', () => {
    for (const move of invoiceMoves) {
      expect([moveInvoice('paid', move), moveInvoice('void', move)]).toEqual([null, null]);
      for (const from of invoiceStatuses) if (from !== 'draft') expect(moveInvoice(from, move)).not.toBe('draft');
    }
  });

  it('names the state and what it allows where it refuses', () => {
    expect(refusedInvoice('open', 'finalize').message).toBe('An invoice that is open cannot be finalised; allowed: be paid, be voided, be marked as uncollectible.');
    expect(refusedInvoice('paid', 'void')).toMatchObject({ code: 'invalid_state_transition', message: 'An invoice that is paid cannot be voided; allowed: nothing.' });
  });
});

describe('finalising', () => {
  const at = new Date('2026-03-01T00:00:00.000Z');

  it('loses and makes no atom: total = applied + due − credited, and only credit that is there is used', () => {
    fc.assert(fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: -1_000, max: 2_000_000 }), fc.constantFrom(0, 50, 17_500), (totalAtom, balanceAtom, minimumAtom) => {
      const plan = planFinalisation({ totalAtom, collectionMethod: 'send_invoice', netD: null }, { balanceAtom, minimumAtom, at });
      const { appliedBalanceAtom, dueAtom, creditedAtom, carriedAtom, status } = plan;
      expect([appliedBalanceAtom + dueAtom - creditedAtom, plan.totalAtom]).toEqual([totalAtom - carriedAtom, totalAtom - carriedAtom]);
      expect(dueAtom === 0 || dueAtom >= minimumAtom).toBe(true);
      expect(carriedAtom === 0 || (carriedAtom < minimumAtom && dueAtom === 0)).toBe(true);
      expect(appliedBalanceAtom).toBeLessThanOrEqual(Math.max(balanceAtom, 0));
      expect([appliedBalanceAtom >= 0, dueAtom >= 0, creditedAtom >= 0, creditedAtom === 0 || dueAtom === 0]).toEqual([true, true, true, true]);
      expect(status).toBe(dueAtom === 0 ? 'paid' : 'open');
    }));
  });

  it('is due at once where it is charged, and after its days where it is sent', () => {
    const due = (collectionMethod: string, netD: number | null) => planFinalisation({ totalAtom: 1, collectionMethod, netD }, { balanceAtom: 0, minimumAtom: 0, at }).dueDate.toISOString();
    expect([due('charge_automatically', null), due('send_invoice', null), due('send_invoice', 0), due('send_invoice', 7)]).toEqual([
      '2026-03-01T00:00:00.000Z', '2026-03-31T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-08T00:00:00.000Z',
    ]);
  });
});
