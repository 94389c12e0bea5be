import type { OutcomeClass } from '../payment/outcome.js';
import { outcomeClasses } from '../payment/outcome.js';
import { attentionActions } from './attention.actions.js';
import { judge, type Sight } from './verdict.js';

const seen = (outcomeClass: OutcomeClass, rest: Partial<Extract<Sight, { found: 'yes' }>> = {}): Sight => ({
  found: 'yes', outcomeClass, capturedAtom: 0, refundedAtom: 0, voided: false, ...rest,
});
const sights: Sight[] = [
  ...outcomeClasses.flatMap((each) => [seen(each), seen(each, { voided: true }), seen(each, { capturedAtom: 5 })]),
  { found: 'absent', certain: true }, { found: 'absent', certain: false }, { found: 'unknown' },
];

describe('a person\'s word about a payment', () => {
  it('never stands against the processor\'s', () => {
    expect(judge('mark_failed', seen('approved', { capturedAtom: 10 }))).toMatchObject({ take: 'refuse' });
    for (const open of ['pending', 'action_required', 'unknown', 'mismatch'] as const) expect(judge('mark_failed', seen(open))).toMatchObject({ take: 'refuse' });
    for (const sight of sights) {
      const judgement = judge('mark_succeeded', sight);
      const approved = sight.found === 'yes' && sight.outcomeClass === 'approved' && !sight.voided;
      if (judgement.take === 'processor') expect(approved).toBe(true);
      if (sight.found === 'yes' && !approved) expect(judgement.take).toBe('refuse');
    }
    expect(judge('mark_succeeded', { found: 'absent', certain: true })).toMatchObject({ take: 'refuse' });
  });

  it('counts where the processor says nothing', () => {
    expect(judge('mark_succeeded', { found: 'unknown' })).toEqual({ take: 'person', outcomeClass: 'approved' });
    expect(judge('mark_failed', { found: 'absent', certain: true })).toEqual({ take: 'person', outcomeClass: 'processor_error' });
    expect(judge('look_again', { found: 'absent', certain: true })).toMatchObject({ take: 'nothing' });
  });

  it('gives back exactly what is there, and only once', () => {
    expect(judge('refund', seen('mismatch', { capturedAtom: 9, refundedAtom: 2 }))).toEqual({ take: 'refund', amountAtom: 7 });
    expect(judge('refund', seen('mismatch', { capturedAtom: 9, refundedAtom: 9 }))).toMatchObject({ take: 'refuse' });
    expect(judge('void', seen('mismatch', { capturedAtom: 9 }))).toMatchObject({ take: 'refuse' });
    expect(judge('void', seen('mismatch'))).toEqual({ take: 'void' });
    for (const sight of sights.filter((each) => each.found === 'yes' && each.voided)) {
      expect([judge('void', sight).take, judge('refund', sight).take]).toEqual(['refuse', 'refuse']);
    }
  });

  it('is judged in every case', () => {
    for (const action of attentionActions) for (const sight of sights) expect(judge(action, sight)).toHaveProperty('take');
  });
});
