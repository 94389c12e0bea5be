import type { Composition } from './activities.js';
import { startWatcher } from './loops/attention.loop.js';
import { startPruner } from './loops/pruner.loop.js';
import { startDueDates } from './loops/due-date.loop.js';
import { startKeeper } from './loops/kept-methods.loop.js';
import { startEndpointWatcher } from './loops/endpoint-watch.loop.js';
import { startMailer } from './loops/mail.loop.js';
import { startReconciler } from './loops/reconciler.loop.js';
import { startReconciliations } from './loops/reconciliation.loop.js';
import { startRestarter } from './loops/restart.loop.js';
import { startSweeper } from './loops/sweeper.loop.js';
import { startClockReconciler } from './loops/test-clocks.loop.js';
import { startWaker } from './loops/waker.loop.js';
import { startJobReconciler } from './loops/webhook-jobs.loop.js';
import { servedQueues } from './workers.js';

/** Starts every loop of this process; returns how to stop them. A loop belongs to the process that serves its queue. */
export function startLoops(composition: Composition): () => Promise<void> {
  const { config, db, client, log } = composition;
  const stops: (() => Promise<void>)[] = [];
  if (config.queues.includes('webhooks')) {
    stops.push(
      startWaker({ db, databaseUrl: config.databaseUrl, client, environment: config.environment, log }), startJobReconciler(composition), startEndpointWatcher(composition),
    );
  }
  if (config.queues.includes('subscriptions')) stops.push(startReconciler(composition), startDueDates(composition), startKeeper(composition));
  if (servedQueues(config).includes('test-clocks')) stops.push(startClockReconciler(composition));
  stops.push(startSweeper(composition), startRestarter(composition), startWatcher(composition), startMailer(composition), startReconciliations(composition), startPruner(composition));
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}
