export { payment } from './payment/payment.workflow.js';
export { webhookEndpoint } from './webhook-endpoint/webhook-endpoint.workflow.js';
