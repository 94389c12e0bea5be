import type { Random } from '../random.js';
import { rehearse } from './clocks.js';
import type { Journey } from './journey.js';
import { anything, byHandAtProvider, manualCapture, refunds } from './money.js';
import {
  challenge, confirmAfterDecline, duplicates, everyTrigger, fallback, inTwoSteps, leaves, oneOff, pending, subscribe,
} from './payments.js';

export const journeys = {
  oneOff, everyTrigger, fallback, duplicates, leaves, confirmAfterDecline, inTwoSteps, challenge, pending, subscribe, rehearse, manualCapture, refunds, byHandAtProvider,
  anything,
} satisfies Record<string, (journey: Journey) => Promise<void>>;
export type JourneyKind = keyof typeof journeys;

const usual: Record<JourneyKind, number> = {
  oneOff: 12, everyTrigger: 16, fallback: 14, duplicates: 6, leaves: 5, confirmAfterDecline: 7, inTwoSteps: 4, challenge: 8, pending: 5, subscribe: 4,
  rehearse: 2, manualCapture: 10, refunds: 10, byHandAtProvider: 6, anything: 8,
};

/** The mixture of a run: the usual weights, each changed by the seed by up to a half. */
export function mixture(random: Random): Record<JourneyKind, number> {
  return Object.fromEntries(Object.entries(usual).map(([kind, weight]) => [kind, weight * (0.5 + random.fraction())])) as Record<JourneyKind, number>;
}
