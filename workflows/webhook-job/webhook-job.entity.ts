import type { WebhookJobState } from '../../libs/contracts/webhook-job.contract.js';

const firstRestMs = 1_000;
const longestRestMs = 30_000;

/** What a job's workflow knows between two stretches; the row knows how far the job has come. */
export class WebhookJobEntity {
  /** Somebody asked since the last stretch began. */
  woken = false;
  private rests = 0;
  private state: WebhookJobState = 'more';

  wake(): void {
    this.woken = true;
  }

  begin(): void {
    this.woken = false;
  }

  settle(state: WebhookJobState): void {
    this.state = state;
    this.rests = state === 'waiting' ? this.rests + 1 : 0;
  }

  get isOver(): boolean {
    return this.state === 'done';
  }

  /** Milliseconds until it is worth another look; 0: at once. */
  get restMs(): number {
    return this.rests === 0 ? 0 : Math.min(longestRestMs, firstRestMs * 2 ** Math.min(this.rests - 1, 10));
  }

  describe(job: string): string {
    return `${job}: ${this.state === 'waiting' ? 'waits for its endpoint' : 'at work'}`;
  }
}
