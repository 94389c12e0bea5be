import {
  WithStartWorkflowOperation,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import {
  paymentQueue,
  paymentTaskTimeout,
  paymentWorkflow,
  paymentWorkflowId,
  settlePayment,
  wakePayment,
  type PaymentRequest,
  type PaymentWorkflowInput,
} from '../contracts/payment.contract.js';
import type { AdvanceResult } from '../domain/payment/advance-result.js';
import { isWorkflowTaskFailed } from './connection.js';
import { oneRun, searchable, untilAnswered } from './workflow-options.js';

/** How long a caller waits for a payment before the answer is `processing`. */
export const settleDeadlineMs = 9_500;
const startDeadlineMs = 3_000;

export interface PaymentStart extends PaymentWorkflowInput {
  /** For people, for example `12.00 eur`. */
  summary: string;
}

function optionsOf({ summary, ...input }: PaymentStart) {
  return {
    workflowId: paymentWorkflowId(input.payment),
    taskQueue: paymentQueue,
    workflowTaskTimeout: paymentTaskTimeout,
    ...oneRun,
    args: [input] as [PaymentWorkflowInput],
    staticSummary: summary,
    typedSearchAttributes: searchable({ ...input, status: input.last?.status ?? 'processing' }),
  } satisfies WorkflowStartOptions;
}

/**
 * Starts the payment's workflow or wakes it, and waits for where the payment then stands. The same `updateId` asks for the
 * same answer again. Null: not known at `deadline` (epoch milliseconds); the workflow goes on.
 */
export async function settlePaymentByWorkflow(
  client: Client,
  start: PaymentStart,
  { updateId, request, deadline }: { updateId: string; request: PaymentRequest | null; deadline: number },
): Promise<AdvanceResult | null> {
  return untilAnswered(async () => {
    try {
      return await client.withDeadline(deadline, () =>
        client.workflow.executeUpdateWithStart(settlePayment, {
          args: [request],
          updateId,
          startWorkflowOperation: new WithStartWorkflowOperation(paymentWorkflow, optionsOf(start)),
        }));
    } catch (error) {
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isWorkflowTaskFailed(error)) return null;
      throw error;
    }
  });
}

/**
 * Wakes the payment's workflow, or starts it. One that is started has its first task after `delayMs`, or as soon as anybody else calls
 * it: the engine keeps it until then, at no cost.
 */
export async function wakePaymentWorkflow(client: Client, start: PaymentStart, { delayMs = 0 }: { delayMs?: number } = {}): Promise<void> {
  const options = { ...optionsOf(start), ...(delayMs > 0 ? { startDelay: delayMs } : {}), signal: wakePayment };
  await client.withDeadline(Date.now() + startDeadlineMs, () => client.workflow.signalWithStart(paymentWorkflow, options));
}
