import { claimEmails, recordHandover, refuseEmails, type Handover } from '../../../../libs/db/email-queue.writes.js';
import { readEmailFacts } from '../../../../libs/db/email.queries.js';
import { onTestClock } from '../../../../libs/db/email.writes.js';
import { hostedInvoiceUrl } from '../../../../libs/db/invoice-page.js';
import type { EmailRow } from '../../../../libs/db/schema/index.js';
import { isMailAddress, notConfigured, type EmailKind } from '../../../../libs/domain/email/email.js';
import { emailModel } from '../../../../libs/email/email.model.js';
import { outdatedReason } from '../../../../libs/email/outdated.js';
import { renderEmail } from '../../../../libs/email/render.js';
import { openSender, type EmailSender } from '../../../../libs/email/sender.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 500;
const refusedAtOnce = 500;

/** Hands the queued e-mails to the server, a few at a time; without a server each says that it was not sent. */
export function startMailer(composition: Composition): () => Promise<void> {
  const { config, db, log } = composition;
  const { smtp, emailConnections } = config;
  const sender = smtp && openSender(smtp, emailConnections);

  const round = async (isStopped: () => boolean): Promise<void> => {
    if (!sender) return void (await refuseEmails(db, { reason: notConfigured, limit: refusedAtOnce }));
    for (let claimed = emailConnections; claimed === emailConnections && !isStopped(); ) {
      const mails = await claimEmails(db, emailConnections);
      await Promise.all(mails.map(async (mail) => recordHandover(db, mail, await handOver(composition, sender, mail))));
      claimed = mails.length;
    }
  };

  const stop = startPeriodic({ everyMs, trouble: 'cannot send e-mails', round }, log);
  return async () => {
    await stop();
    sender?.close();
  };
}

async function handOver({ config, db, log }: Composition, sender: EmailSender, mail: EmailRow): Promise<Handover> {
  const at = new Date();
  const facts = await readEmailFacts(db, { ...mail, told: mail.data }, at);
  if (!facts) return { status: 'failed', reason: 'The customer was deleted.' };
  if (facts.customer.onTestClock) return { status: 'not_sent', reason: onTestClock };
  const outdated = outdatedReason(mail.kind as EmailKind, facts);
  if (outdated) return { status: 'not_sent', reason: outdated };
  if (!isMailAddress(mail.recipient)) return { status: 'failed', reason: 'The recipient is not a valid e-mail address.' };
  const link = facts.invoice && hostedInvoiceUrl(config, facts.invoice);
  const rendered = renderEmail(emailModel(facts, { kind: mail.kind as EmailKind, link, at }));
  const { senderName, replyTo } = facts.settings;
  const email = publicId('email', config.environment, mail.id);
  const messageId = `<${email}@${config.smtp!.from.split('@').at(-1)}>`;
  const outcome = await sender.send({ ...rendered, recipient: mail.recipient, senderName: senderName ?? facts.accountName, replyTo, messageId });
  if (outcome.kind === 'sent') return { status: 'sent', subject: rendered.subject, messageId };
  log.warn({ email_id: email, attempt: mail.attempts, reason: outcome.reason }, 'e-mail was not taken');
  const retrySeconds = config.emailRetrySchedule[mail.attempts - 1];
  if (outcome.kind === 'refused') return { status: 'failed', reason: outcome.reason, subject: rendered.subject };
  if (retrySeconds === undefined) return { status: 'failed', reason: `Given up after ${mail.attempts} tries: ${outcome.reason}`, subject: rendered.subject };
  return { status: 'pending', reason: outcome.reason, retrySeconds, subject: rendered.subject };
}
