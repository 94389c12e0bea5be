export const intentStatuses = [
  'requires_confirmation',
  'requires_capture',
  'requires_action',
  'requires_payment_method',
  'processing',
  'canceled',
  'succeeded',
  'exception',
] as const;
export type IntentStatus = (typeof intentStatuses)[number];

export const chargeStatuses = ['succeeded', 'failed', 'pending'] as const;
export type ChargeStatus = (typeof chargeStatuses)[number];

export const refundStatuses = ['succeeded', 'failed', 'pending', 'requires_action', 'canceled'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export const refundReasons = [
  'manual',
  'duplicate',
  'fraudulent',
  'requested_by_customer',
  'expired_uncaptured_charge',
  'manual_out_of_band',
] as const;
export type RefundReason = (typeof refundReasons)[number];

export const captureMethods = ['automatic', 'manual'] as const;
export type CaptureMethod = (typeof captureMethods)[number];

export const executions = ['workflow', 'inline'] as const;
export type Execution = (typeof executions)[number];

/** Who is responsible that the payment moves on. */
export type PaymentDriver = 'api' | 'workflow';
