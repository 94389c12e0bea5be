import { z } from 'zod';
import { emailKinds, isMailAddress, type EmailSettings } from '../../../../libs/domain/email/email.js';
import { checkDunningPolicy, defaultDunningPolicy, finalActions, longestRunHours, mostReminders, mostRetries, type DunningPolicy } from '../../../../libs/domain/subscription/dunning-policy.js';
import { text } from '../kernel/fields.dto.js';

const hours = z.int().min(1).max(longestRunHours);

/** Fields that are left out are those of the default policy, not of the one before: a policy is read whole. */
export const dunningPolicyBody = z.strictObject({
  retry_hours: z.array(hours).max(mostRetries).optional().describe('Whole hours after the first failure, rising, at most 60 days; default: those of 6, 24, 72, 120, 168, 240, 336 that are not after the end'),
  ends_after_hours: hours.nullable().optional().describe('When the run ends unpaid, in hours after the first failure; null: with the last retry'),
  final_action: z.enum(finalActions).optional().describe('cancel (invoices become uncollectible), pause (they stay open) or leave_unpaid (later ones stay drafts); default: cancel'),
  reminder_hours: z.array(z.int().min(-longestRunHours).max(longestRunHours)).max(mostReminders).optional()
    .describe('`send_invoice`: when the customer is reminded, in hours after the due date, negative before it, rising; default: -72, 24, 168'),
});
export type DunningPolicyBody = z.infer<typeof dunningPolicyBody>;

/** @throws DomainError 422 naming the field. */
export function readDunningPolicy(body: DunningPolicyBody): DunningPolicy {
  const end = body.ends_after_hours ?? null;
  const policy: DunningPolicy = {
    retryHours: body.retry_hours ?? defaultDunningPolicy.retryHours.filter((hours) => end === null || hours <= end),
    endsAfterHours: end,
    finalAction: body.final_action ?? defaultDunningPolicy.finalAction,
    reminderHours: body.reminder_hours ?? defaultDunningPolicy.reminderHours,
  };
  checkDunningPolicy(policy);
  return policy;
}

export const dunningPolicyShape = z.object({
  retry_hours: z.array(z.int()),
  ends_after_hours: z.int().nullable(),
  final_action: z.enum(finalActions),
  reminder_hours: z.array(z.int()),
}).meta({ id: 'DunningPolicy' });

const name = text(100).refine((value) => !/[\r\n"<>]/.test(value), { error: 'must not contain line breaks, quotes or angle brackets' });

export const emailSettingsBody = z.strictObject({
  enabled_kinds: z.array(z.enum(emailKinds)).max(emailKinds.length).optional().describe('Kinds of mail that customers get; default: all. Receipts go only to customers with `email_receipt_on_paid`'),
  sender_name: name.min(1).nullable().optional().describe('Beside the sender\'s address; null: the account\'s name'),
  reply_to: text(254).refine(isMailAddress, { error: 'is not an e-mail address' }).nullable().optional(),
});

export function readEmailSettings(body: z.infer<typeof emailSettingsBody>): EmailSettings {
  return { enabledKinds: [...new Set(body.enabled_kinds ?? emailKinds)], senderName: body.sender_name ?? null, replyTo: body.reply_to ?? null };
}

export const emailSettingsShape = z.object({
  enabled_kinds: z.array(z.enum(emailKinds)),
  sender_name: z.string().nullable(),
  reply_to: z.string().nullable(),
}).meta({ id: 'EmailSettings' });

export const billingSettingsBody = z.strictObject({
  invoice_upcoming_days: z.int().min(0).max(60).describe('Days before a renewal at which `invoice.upcoming` tells of it; 0: never. Holds from each subscription\'s next period on; not for periods that are shorter'),
});

export const billingSettingsShape = z.object({ invoice_upcoming_days: z.int() }).meta({ id: 'BillingSettings' });
