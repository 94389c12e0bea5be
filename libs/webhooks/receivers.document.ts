import { readFileSync } from 'node:fs';

/** The snippets of this page, in its order. Each is a file, so that the tests run what the page shows. */
export const snippets = [
  { language: 'Python', file: 'webhook_verification.py', fence: 'python', call: 'verify_webhook(body, headers, secrets)' },
  { language: 'Go', file: 'webhook_verification.go', fence: 'go', call: 'webhook.Verify(body, request.Header, secrets, "object", time.Now())' },
  { language: 'Java', file: 'WebhookVerification.java', fence: 'java', call: 'WebhookVerification.verify(body, headers, secrets, "object", System.currentTimeMillis() / 1000)' },
  { language: 'Ruby', file: 'webhook_verification.rb', fence: 'ruby', call: 'WebhookVerification.verify(request.body.read, headers, secrets)' },
  { language: 'PHP', file: 'webhook_verification.php', fence: 'php', call: "verify_webhook(file_get_contents('php://input'), $headers, $secrets)" },
] as const;

const introduction = `# Receiving webhooks

Written by \`receivers.document.ts\` from the files in \`receivers/\`; \`test/webhooks/receivers.spec.ts\` runs each of them, where the language is
on the machine, against good, changed, old and twice signed webhooks in both data formats.

What a receiver does, in this order:

1. Take the **raw body**, byte for byte. A body that was parsed and rendered again is another one: most "invalid signature" reports anywhere are this.
2. Check the signatures with every live secret of the endpoint (\`GET /webhook-endpoints/{id}/reveal_secret\`, \`secrets\`). One match is enough: while a
   secret is rotated each webhook carries one signature per live secret. Refuse with 400 what does not match.
   - \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` ([Standard Webhooks](https://www.standardwebhooks.com)) prove the whole body and the age of this attempt.
   - \`signature-digest: t=…,v1=…\` proves the bytes of \`data\`; its \`t\` is the time of the event, not of the attempt, so it is no protection against replay.
3. Note the event's \`id\` (\`webhook-id\`) where it cannot be noted twice, in the transaction that does the work. Deliveries come **at least once**, and now and
   then twice. What was seen before is answered with 200 and nothing else.
4. Answer 2xx within 15 s and do long work afterwards. Redirects are not followed, 410 disables the endpoint, anything else is tried again.
5. Do not rely on the order of arrival: \`sequence\` rises by one per object. Skip what is older than what you have, or read the object.
6. \`data\` is at most 64 KiB. A larger object says less there: \`reduced_keys\` names the lists that hold ids only and the values that are null; read the object.

While you write it: \`npm run cli -- listen --forward-to http://127.0.0.1:3000/hooks\` posts staging's events to your program, signed the same way, with a secret
that it prints. Who cannot receive webhooks reads \`GET /events/stream\`, whose \`data\` is the same body.

## TypeScript

\`\`\`ts
import { verifyWebhook } from 'signalbox/webhooks';

const verdict = verifyWebhook({ headers: request.headers, body: rawBody, secrets: [secret] }, { nowSeconds: Date.now() / 1000 });
if (!verdict.valid) return response.writeHead(400).end(verdict.reason);
\`\`\`
`;

export function receiversDocument(): string {
  const sections = snippets.map(({ language, file, fence, call }) => {
    const code = readFileSync(new URL(`receivers/${file}`, import.meta.url), 'utf8');
    return `## ${language}\n\n\`${call}\` · [${file}](receivers/${file})\n\n\`\`\`${fence}\n${code}\`\`\`\n`;
  });
  return [introduction, ...sections].join('\n');
}
