import { overdueInvoices, passDueDate } from '../../../../libs/db/overdue-invoice.writes.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 2_000;

/** Marks sent invoices that no subscription's workflow watches, because a person made them, once their due date has passed. */
export function startDueDates({ db, config, log }: Composition): () => Promise<void> {
  const round = async (isStopped: () => boolean): Promise<void> => {
    const at = new Date();
    for (const invoice of await overdueInvoices(db, { at, testClockId: null })) {
      if (isStopped()) return;
      await passDueDate(db, config.environment, { invoice, at, clockTime: null });
    }
  };
  return startPeriodic({ everyMs, trouble: 'cannot mark overdue invoices', round }, log);
}
