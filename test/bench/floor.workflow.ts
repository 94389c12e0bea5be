import { proxyLocalActivities } from '@temporalio/workflow';

const { nothing } = proxyLocalActivities<{ nothing(): Promise<number> }>({ startToCloseTimeout: '5s' });

/** The engine's floor: one workflow, one local activity that does nothing. */
export async function floor(): Promise<number> {
  return nothing();
}
