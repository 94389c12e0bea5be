import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { paymentQueue, paymentTaskTimeout, paymentWorkflow, paymentWorkflowId } from '../../libs/contracts/payment.contract.js';
import type { AdvancedPayment } from '../../libs/contracts/subscription.contract.js';
import { payments } from './subscription.proxies.js';

/** A payment is moved once here, and what is not final goes on in a workflow of its own. */
export async function advanceBeside(intentId: string): Promise<void> {
  const advanced = await payments.advanceInvoicePayment({ intentId });
  if (!advanced.final) await startPayment(advanced);
}

export async function startPayment({ start: { summary, ...input } }: Pick<AdvancedPayment, 'start'>): Promise<void> {
  try {
    await startChild(paymentWorkflow, {
      workflowId: paymentWorkflowId(input.payment),
      taskQueue: paymentQueue,
      workflowTaskTimeout: paymentTaskTimeout,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [input],
      staticSummary: summary,
      searchAttributes: {
        SignalboxStatus: ['processing'],
        SignalboxAccount: [input.account],
        ...(input.customer ? { SignalboxCustomer: [input.customer] } : {}),
      },
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
