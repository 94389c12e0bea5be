/** What customers are told by e-mail. */
export const emailKinds = ['receipt', 'invoice', 'payment_failed', 'action_needed', 'trial_ending', 'reminder'] as const;
export type EmailKind = (typeof emailKinds)[number];

/** A mail that a plan asks for, about the subscription or one of its invoices; ids are UUIDs. */
export interface EmailWish {
  kind: EmailKind;
  invoiceId: string | null;
}

/** What an account has settled about its e-mails. */
export interface EmailSettings {
  enabledKinds: readonly EmailKind[];
  /** The name beside the sender's address; null: the account's. */
  senderName: string | null;
  replyTo: string | null;
}

export const defaultEmailSettings: EmailSettings = { enabledKinds: emailKinds, senderName: null, replyTo: null };

/** Why a mail is not sent where the installation names no server. */
export const notConfigured = 'not_configured: no SMTP server is set (SMTP_URL, SMTP_FROM).';

const address = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** One plain address: no list, no display name, no control characters. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && address.test(text);
}

/** What a mail tells of, read from the rows; ids are of no concern here. */
export interface EmailFacts {
  accountName: string;
  settings: EmailSettings;
  recipient: string;
  customer: { name: string | null; language: string | null; onTestClock: boolean };
  invoice: {
    number: number | null;
    status: string;
    currency: string;
    totalAtom: number;
    dueAtom: number;
    paidAtom: number;
    dueDate: Date;
    paidAt: Date | null;
    lines: { name: string; quantity: number; amountAtom: number }[];
  } | null;
  /** `status` is today's. */
  subscription: { name: string; status: string; interval: string; intervalCount: number; currency: string; trialEnd: Date | null; nextTotalAtom: number | null } | null;
  /** What was true when the mail was asked for. */
  told: EmailTold;
}

export interface EmailTold {
  status: string | null;
  /** RFC 3339. */
  nextAttemptAt: string | null;
  trialEnd: string | null;
}
