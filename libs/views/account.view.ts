import { defaultEmailSettings, type EmailSettings } from '../domain/email/email.js';
import type { Environment } from '../domain/environment.js';
import { defaultDunningPolicy, type DunningPolicy } from '../domain/subscription/dunning-policy.js';
import { defaultUpcomingDays } from '../domain/subscription/dunning.js';
import { dunningPolicyView } from './dunning.view.js';
import { publicId } from './ids.js';

export interface AccountFacts {
  id: string;
  name: string;
  operatorRefundLimitAtom: number | null;
  defaultPaymentRouteId: string | null;
  execution: string;
  dunningPolicy: DunningPolicy | null;
  emailSettings: EmailSettings | null;
  billingSettings: { invoiceUpcomingDays: number } | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The published object `account`. */
export function accountView(account: AccountFacts, environment: Environment) {
  return {
    id: publicId('acct', environment, account.id),
    object: 'account' as const,
    name: account.name,
    operator_refund_limit_atom: account.operatorRefundLimitAtom,
    default_payment_route_id: account.defaultPaymentRouteId && publicId('route', environment, account.defaultPaymentRouteId),
    execution: account.execution,
    dunning_policy: dunningPolicyView(account.dunningPolicy ?? defaultDunningPolicy),
    email_settings: emailSettingsView(account.emailSettings ?? defaultEmailSettings),
    billing_settings: { invoice_upcoming_days: account.billingSettings?.invoiceUpcomingDays ?? defaultUpcomingDays },
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    is_deleted: false,
  };
}

function emailSettingsView({ enabledKinds, senderName, replyTo }: EmailSettings) {
  return { enabled_kinds: enabledKinds, sender_name: senderName, reply_to: replyTo };
}
