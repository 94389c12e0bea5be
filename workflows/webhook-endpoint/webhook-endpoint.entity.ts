import type { DrainOutcome } from '../../libs/contracts/webhook-endpoint.contract.js';

/** What a dispatcher knows between two drains. Everything else stands in rows. */
export class WebhookEndpointEntity {
  /** Whether somebody asked for a drain since the last one began. */
  woken = false;
  /** Whether the last drain left work that does not wait. */
  goesOn = false;
  private dueInMs: number | null = null;

  constructor(public failing: boolean) {}

  wake(): void {
    this.woken = true;
  }

  begin(): void {
    this.woken = false;
  }

  /** True if the endpoint began or ceased to fail. */
  settle(outcome: DrainOutcome): boolean {
    const changed = this.failing !== outcome.failing;
    this.failing = outcome.failing;
    this.dueInMs = outcome.dueInMs;
    this.goesOn = outcome.goesOn === true || outcome.dueInMs === 0;
    return changed;
  }

  describe(phase: 'draining' | 'waiting'): string {
    const pace = this.failing ? 'its receiver fails, one delivery at a time' : 'delivering';
    if (phase === 'draining') return pace;
    return this.dueInMs === null ? 'nothing waits' : `${pace}; next delivery due in ${Math.ceil(this.dueInMs / 1000)} s`;
  }
}
