import fc from 'fast-check';
import { eventData, mostDataBytes } from './event-data.js';

const lines = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `ii_${index}`, name: 'x'.repeat(900) }));

describe('the data of an event', () => {
  it('is the object as it is, up to 64 KiB', () => {
    const whole = { id: 'in_1', object: 'invoice', lines: lines(60), note: 'é' };
    expect(eventData(whole)).toBe(JSON.stringify(whole));
  });

  it('holds the ids of what is too much in a list, keeps the rest, and names what it left out', () => {
    const large = { id: 'in_1', object: 'invoice', metadata: { shop: 'north' }, lines: lines(100), taxes: [{ rate: 7 }] };
    expect(JSON.parse(eventData(large))).toEqual({ ...large, lines: large.lines.map(({ id }) => id), reduced_keys: ['lines'] });
  });

  it('leaves out a whole value where nothing else helps, the largest first', () => {
    const large = { id: 'prt_1', object: 'payment_route', name: 'n'.repeat(500), route_configuration: { rules: 'r'.repeat(70_000) } };
    expect(JSON.parse(eventData(large))).toEqual({ ...large, route_configuration: null, reduced_keys: ['route_configuration'] });
  });

  it('never is larger, counted in bytes, and keeps what the object is known by', () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40_000, size: 'max' }), fc.array(fc.record({ id: fc.string(), text: fc.string({ maxLength: 5_000, size: 'max' }) })), fc.jsonValue());
    fc.assert(fc.property(fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), value, { maxKeys: 12 }), (fields) => {
      const object = { ...fields, id: 'x_1', object: 'thing' };
      const text = eventData(object);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostDataBytes);
      expect(JSON.parse(text)).toMatchObject({ id: 'x_1', object: 'thing' });
    }), { numRuns: 50 });
  });
});
