import { derivedId, newId, siblingId } from './mint.js';

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('minted ids', () => {
  it('are UUIDv7 that rise with time', () => {
    const ids = [newId(), newId(), newId()];
    expect(shape.exec(ids[0]!)?.[1]).toBe('7');
    expect([...ids].sort()).toEqual(ids);
  });

  it('are the same for the same business identity, and differ for another', () => {
    expect(derivedId('a', 1)).toBe(derivedId('a', 1));
    expect(derivedId('a', 1)).not.toBe(derivedId('a1'));
    expect(derivedId('a', '')).not.toBe(derivedId('', 'a'));
  });

  it('keep an object beside the one that it belongs to', () => {
    const invoice = newId();
    const intent = siblingId(invoice, 'payment');
    expect(shape.exec(intent)?.[1]).toBe('7');
    expect(intent.slice(0, 13)).toBe(invoice.slice(0, 13));
    expect(intent).toBe(siblingId(invoice, 'payment'));
    expect(intent).not.toBe(siblingId(invoice, 'refund'));
    expect(intent).not.toBe(invoice);
  });
});
