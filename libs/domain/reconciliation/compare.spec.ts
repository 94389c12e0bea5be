import { agrees, claims, parseReference, type OurSide, type TheirSide } from './compare.js';

const ours = (set: Partial<OurSide> = {}): OurSide => ({
  status: 'succeeded', amountAtom: 100, currency: 'eur', capturedAtom: 100, refundedAtom: 0, voided: false, disputed: false, unresolved: false, ...set,
});
const theirs = (set: Partial<TheirSide> = {}): TheirSide => ({
  amountAtom: 100, currency: 'eur', outcomeClass: 'approved', capturedAtom: 100, refundedAtom: 0, voided: false, disputed: false, ...set,
});

describe('two records of one charge', () => {
  it('agree when nothing differs', () => {
    expect(agrees(ours(), theirs())).toBe(true);
    expect(agrees(ours({ status: 'failed', capturedAtom: 0 }), theirs({ outcomeClass: 'soft_decline', capturedAtom: 0 }))).toBe(true);
    expect(agrees(ours({ capturedAtom: 0, voided: true }), theirs({ capturedAtom: 0, voided: true }))).toBe(true);
  });

  it.each<[string, Partial<OurSide>, Partial<TheirSide>]>([
    ['a charge that they took and we call failed', { status: 'failed', capturedAtom: 0 }, {}],
    ['an attempt without outcome', { status: 'pending', capturedAtom: 0, unresolved: true }, {}],
    ['a refund made there', {}, { refundedAtom: 40 }],
    ['a capture made there', { capturedAtom: 0 }, {}],
    ['a void made there', { capturedAtom: 0 }, { capturedAtom: 0, voided: true }],
    ['a dispute', {}, { disputed: true }],
  ])('differ by %s, which can be learned', (_what, here, there) => {
    expect(agrees(ours(here), theirs(there))).toBe(false);
    expect(claims(ours(here), theirs(there))).toEqual([]);
  });

  it.each<[string, Partial<OurSide>, Partial<TheirSide>]>([
    ['captured 100 here, 0 there', {}, { capturedAtom: 0 }],
    ['refunded 50 here, 0 there', { refundedAtom: 50 }, {}],
    ['succeeded here, hard_decline there', { capturedAtom: 0 }, { outcomeClass: 'hard_decline', capturedAtom: 0 }],
    ['voided here, not there', { capturedAtom: 0, voided: true }, { capturedAtom: 0 }],
    ['amount 100 here, 90 there', {}, { amountAtom: 90 }],
    ['currency eur here, usd there', {}, { currency: 'usd' }],
  ])('say %s, which is for a person', (words, here, there) => {
    expect(claims(ours(here), theirs(there))).toEqual([words]);
    expect(agrees(ours(here), theirs(there))).toBe(false);
  });
});

describe('a reference', () => {
  it('is ours only in our form and of our environment', () => {
    const id = '01m7yy0fcbfvmvgrw3c8x3mb0m';
    expect(parseReference(`pi_stg_${id}-2`, 'stg')).toEqual({ intent: `pi_stg_${id}`, attempt: 2 });
    expect(parseReference(`sub_stg_${id}:1790000000-1`, 'stg')).toEqual({ intent: `sub_stg_${id}:1790000000`, attempt: 1 });
    expect(parseReference(`inv_stg_${id}-3`, 'stg')).toEqual({ intent: `inv_stg_${id}`, attempt: 3 });
    for (const foreign of [`pi_prod_${id}-1`, `pi_stg_${id}`, 'order-1', `cus_stg_${id}-1`, `pi_stg_${id}-1-refund-1`]) expect(parseReference(foreign, 'stg')).toBeNull();
  });
});
