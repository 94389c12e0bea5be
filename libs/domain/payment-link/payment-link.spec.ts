import fc from 'fast-check';
import { retryAfter, windowStart } from './attempt-limit.js';
import { passesLuhn, readPayForm, type PayForm } from './card-form.js';
import { lineAmount, linkTotal } from './payment-link.js';

const now = new Date('2026-03-15T12:00:00.000Z');
const good: PayForm = { email: 'ada@example.com', name: 'Ada King Lovelace', number: '4242 4242 4242 4242', expiry: '12 / 30', cvc: '123' };

function messagesOf(change: Partial<PayForm>, asksPayer = true) {
  const reading = readPayForm({ ...good, ...change }, { asksPayer, now });
  return reading.ok ? {} : reading.messages;
}

describe('the form of a payment page', () => {
  it('reads a card however its digits are spaced, and splits the name', () => {
    expect(readPayForm(good, { asksPayer: true, now })).toEqual({
      ok: true,
      payer: { email: 'ada@example.com', firstName: 'Ada King', lastName: 'Lovelace' },
      card: { number: '4242424242424242', expMonth: 12, expYear: 2030, cvc: '123' },
    });
    expect(readPayForm({ ...good, name: 'Plato', number: '4242-4242-42424242' }, { asksPayer: true, now })).toMatchObject({
      payer: { firstName: 'Plato', lastName: null },
      card: { number: '4242424242424242' },
    });
  });

  it('asks for no e-mail and name where the link names its customer', () => {
    expect(readPayForm({ ...good, email: '', name: '' }, { asksPayer: false, now })).toMatchObject({ ok: true, payer: null });
  });

  it('says at every empty field what to enter', () => {
    expect(Object.keys(messagesOf({ email: '', name: ' ', number: '', expiry: '', cvc: '' })).sort()).toEqual(
      ['cvc', 'email', 'expiry', 'name', 'number'],
    );
  });

  it.each(['ada', 'ada@', '@example.com', 'ada@example', 'a b@example.com', 'ada@exa..mple.com', 'ada@example.com\u0000', `${'a'.repeat(250)}@b.cd`])(
    'refuses %j as an e-mail address',
    (email) => expect(messagesOf({ email })).toHaveProperty('email'),
  );

  it.each([['4242424242424241'], ['123'], ['4242 4242 4242 424x'], ['42424242424242424242']])('refuses %s as a card number', (number) => {
    expect(messagesOf({ number })).toHaveProperty('number');
  });

  it('takes a card until the end of its month, however the date is written', () => {
    for (const expiry of ['03/26', '3/26', '0326', '03-2026', ' 03 / 26 ']) expect(messagesOf({ expiry })).toEqual({});
    for (const expiry of ['02/26', '13/30', '00/30', '1', 'ab/cd', '04/99']) expect(messagesOf({ expiry })).toHaveProperty('expiry');
    expect(readPayForm({ ...good, expiry: '03/26' }, { asksPayer: true, now: new Date('2026-04-01T00:00:00.000Z') }).ok).toBe(false);
  });

  it('wants four digits of an American Express card and three of the others', () => {
    expect(messagesOf({ number: '378282246310005', cvc: '1234' })).toEqual({});
    expect(messagesOf({ number: '378282246310005', cvc: '123' })).toHaveProperty('cvc');
    expect(messagesOf({ cvc: '1234' })).toHaveProperty('cvc');
  });

  it('never repeats a digit of what was typed, and never throws', () => {
    fc.assert(
      fc.property(fc.record({ email: fc.string(), name: fc.string(), number: fc.string(), expiry: fc.string(), cvc: fc.string() }), (form) => {
        const reading = readPayForm(form, { asksPayer: true, now });
        if (!reading.ok) for (const [field, message] of Object.entries(reading.messages)) {
          const typed = form[field as keyof PayForm].trim();
          if (typed.length > 4) expect(message).not.toContain(typed);
        }
      }),
    );
  });

  it('finds every single wrong digit of a card number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 1, max: 9 }), (place, shift) => {
        const digits = [...'4242424242424242'];
        digits[place] = String((Number(digits[place]) + shift) % 10);
        expect(passesLuhn(digits.join(''))).toBe(false);
      }),
    );
  });
});

describe('limits against card testing', () => {
  const limit = { count: 3, seconds: 600 };

  it('leaves a slot below the count and names the second at which the oldest falls out of the window', () => {
    expect(retryAfter(limit, { count: 2, oldest: now }, now)).toBeNull();
    expect(retryAfter(limit, { count: 3, oldest: new Date(now.getTime() - 590_500) }, now)).toBe(10);
    expect(retryAfter(limit, { count: 9, oldest: now }, now)).toBe(600);
    expect(retryAfter(limit, { count: 3, oldest: windowStart(limit, now) }, now)).toBe(1);
  });
});

describe('the amount of a link', () => {
  it('adds its lines, and rounds a packed quantity up', () => {
    expect(lineAmount({ quantity: 21, unitAmountAtom: 500, divideBy: 10 })).toBe(1500);
    expect(linkTotal([{ quantity: 2, unitAmountAtom: 1999, divideBy: 1 }, { quantity: 1, unitAmountAtom: 1, divideBy: 1 }])).toBe(3999);
  });

  it('refuses a sum that JSON does not hold exactly', () => {
    expect(linkTotal([{ quantity: 1_000_000, unitAmountAtom: Number.MAX_SAFE_INTEGER, divideBy: 1 }])).toBeNull();
  });
});
