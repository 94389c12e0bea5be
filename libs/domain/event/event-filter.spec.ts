import fc from 'fast-check';
import { hearsEvent, matchesEvent, unknownFilters, type EventObjectFilter } from './event-filter.js';
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

describe('which object an endpoint hears of', () => {
  const event = { type: 'customer.updated', objectId: 'cus_1', data: { metadata: { shop: 'north', size: 2, nested: { a: 1 } }, custom_fields: { vip: true } } };

  it.each<[EventObjectFilter | null, boolean]>([
    [null, true],
    [{ object_ids: ['cus_2', 'cus_1'] }, true],
    [{ object_ids: ['cus_2'] }, false],
    [{ metadata: { shop: 'north', size: 2 } }, true],
    [{ metadata: { shop: 'north', size: '2' } }, false],
    [{ metadata: { absent: 'x' } }, false],
    [{ metadata: { toString: 'x' } }, false],
    [{ custom_fields: { vip: true } }, true],
    [{ custom_fields: { vip: false } }, false],
    [{ object_ids: ['cus_1'], metadata: { shop: 'south' } }, false],
    [{ object_ids: ['cus_1'], metadata: { shop: 'north' }, custom_fields: { vip: true } }, true],
  ])('%j: %s', (filter, heard) => {
    expect(hearsEvent({ enabledEvents: ['customer.*'], filter }, event)).toBe(heard);
    expect(hearsEvent({ enabledEvents: ['charge.*'], filter }, event)).toBe(false);
  });

  it('is none without such fields, where it asks for them', () => {
    for (const data of [{}, { metadata: null }, { metadata: 'shop' }]) {
      expect(hearsEvent({ enabledEvents: ['*'], filter: { metadata: { shop: 'north' } } }, { ...event, data })).toBe(false);
    }
  });
});
