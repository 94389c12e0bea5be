import { matchesEvent } from './event-filter.js';

describe('which endpoint hears which event', () => {
  it.each([
    [['*'], 'charge.succeeded', true],
    [['all'], 'charge.succeeded', true],
    [['*'], 'api_token.created', false],
    [['api_token.created'], 'api_token.created', true],
    [['api_token.*'], 'api_token.created', true],
    [['customer.*'], 'customer.subscription.paused', true],
    [['customer.subscription.*'], 'customer.created', false],
    [['charge.*'], 'charges.created', false],
    [['charge.failed', 'refund.created'], 'refund.created', true],
    [[], 'refund.created', false],
  ])('%j hears %s: %s', (enabled, type, heard) => {
    expect(matchesEvent(enabled as string[], type as string)).toBe(heard);
  });
});
