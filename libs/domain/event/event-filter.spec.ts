import fc from 'fast-check';
import { matchesEvent, unknownFilters } from './event-filter.js';
import { eventTypes, isSensitiveType } from './event-type.js';

const anyType = fc.constantFrom(...eventTypes);

describe('which endpoint hears which event', () => {
  it.each([
    [['*'], 'charge.succeeded', true],
    [['all'], 'charge.succeeded', true],
    [['*'], 'api_token.created', false],
    [['*', 'api_token.created'], 'api_token.created', true],
    [['api_token.*'], 'api_token.created', true],
    [['user.*'], 'user_login.created', false],
    [['customer.*'], 'customer.subscription.paused', true],
    [['customer.subscription.*'], 'customer.created', false],
    [['invoice.*'], 'invoice_item.created', false],
    [['charge.failed', 'refund.created'], 'refund.created', true],
    [[], 'refund.created', false],
  ])('%j hears %s: %s', (enabled, type, heard) => {
    expect(matchesEvent(enabled as string[], type as string)).toBe(heard);
  });

  it('is everybody for "*", except types about people and access', () => {
    fc.assert(fc.property(anyType, (type) => {
      expect(matchesEvent(['*'], type)).toBe(!isSensitiveType(type));
      expect(matchesEvent(['all'], type)).toBe(!isSensitiveType(type));
    }));
  });

  it('is one type for an exact name', () => {
    fc.assert(fc.property(anyType, anyType, (named, type) => {
      expect(matchesEvent([named], type)).toBe(named === type);
    }));
  });
});

describe('a filter', () => {
  it('may name a known type, a prefix of one, or everything', () => {
    expect(unknownFilters(['charge.failed', 'charge.*', '*', 'all'])).toEqual([]);
    const unknown = ['charge.exploded', 'nothing.*', '.*', '', 'charge'];
    expect(unknownFilters(unknown)).toEqual(unknown.map((entry, index) => ({ index, entry })));
  });

  it('sees each type listed once', () => {
    expect(new Set(eventTypes).size).toBe(eventTypes.length);
  });
});
