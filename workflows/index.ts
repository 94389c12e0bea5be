import './stack-traces.js';
export { payment } from './payment/payment.workflow.js';
export { subscription } from './subscription/subscription.workflow.js';
export { testClock } from './test-clock/test-clock.workflow.js';
export { webhookEndpoint } from './webhook-endpoint/webhook-endpoint.workflow.js';
export { webhookJob } from './webhook-job/webhook-job.workflow.js';
