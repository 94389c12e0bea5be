import { adviceRow, networkAdvice, networkAdviceOf } from './network-advice.js';

describe('advice of the card schemes', () => {
  it('stands once per scheme and code, each row with its source', () => {
    expect(new Set(networkAdvice.map((row) => `${row.scheme}:${row.code}`)).size).toBe(networkAdvice.length);
    for (const row of networkAdvice) expect(row.source).toMatch(/^(developers?|docs)\.[a-z0-9.-]+/);
  });

  it('is never after Visa\'s category 1 and Mastercard\'s 03 and 21, and after nothing else', () => {
    for (const row of networkAdvice) {
      const final = row.scheme === 'visa' ? row.category === 1 : ['03', '21'].includes(row.code);
      expect({ code: row.code, never: row.advice === 'never' }).toEqual({ code: row.code, never: final });
    }
  });

  it.each([
    ['visa', { responseCode: '4' }, { retryAdvice: 'never', networkAdviceCode: '04' }],
    ['Visa', { responseCode: 'r1' }, { retryAdvice: 'never', networkAdviceCode: 'R1' }],
    ['visa', { responseCode: '51' }, { retryAdvice: 'later', networkAdviceCode: '51' }],
    ['visa', { responseCode: 'N7' }, { retryAdvice: null, networkAdviceCode: 'N7' }],
    ['visa', { responseCode: '05' }, { retryAdvice: null, networkAdviceCode: null }],
    ['visa', { merchantAdviceCode: '03' }, { retryAdvice: null, networkAdviceCode: null }],
    ['mastercard', { merchantAdviceCode: '03', responseCode: '05' }, { retryAdvice: 'never', networkAdviceCode: '03' }],
    ['mastercard', { responseCode: '41' }, { retryAdvice: null, networkAdviceCode: null }],
    ['MasterCard', { merchantAdviceCode: '27' }, { retryAdvice: 'later', networkAdviceCode: '27' }],
    ['american_express', { responseCode: '41', merchantAdviceCode: '03' }, { retryAdvice: null, networkAdviceCode: null }],
    [null, { responseCode: '41' }, { retryAdvice: null, networkAdviceCode: null }],
  ])('of %s %j is %j', (brand, codes, advice) => {
    expect(networkAdviceOf(brand, codes)).toEqual(advice);
  });

  it('tells what a code means', () => {
    expect(adviceRow('visa', { responseCode: '46' })).toMatchObject({ category: 1, advice: 'never' });
  });
});
