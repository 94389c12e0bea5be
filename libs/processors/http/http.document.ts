import { z } from 'zod';
import { declineRows, refusalRows } from './http-refusal.js';
import * as contract from './http.contract.js';
import { sign, signatureHeader, signatureOf, toleranceSeconds } from './http.signature.js';

type Shape = z.ZodType;

interface ContractOperation {
  id: string;
  method: 'get' | 'post';
  path: string;
  summary: string;
  description: string;
  body?: Shape;
  query?: Record<string, { description: string; required?: boolean; schema?: object }>;
  answer: Shape;
}

const reference = { reference: { description: 'The reference that the request carried', required: true } };
const twice = 'The same `idempotency-key` and body again: the same object, as it stands now; nothing is made twice.';

const operations: readonly ContractOperation[] = [
  {
    id: 'check', method: 'get', path: '/check', answer: contract.checkShape,
    summary: 'Is anybody there', description: 'Read only. Shows an operator that address and secret are right.',
  },
  {
    id: 'tokenise', method: 'post', path: '/payment-methods', body: contract.paymentMethodRequest, answer: contract.paymentMethodShape,
    summary: 'Store what the browser returned', description: `Exchanges a token for a payment method that can be charged later. ${twice}`,
  },
  {
    id: 'verify', method: 'post', path: '/verifications', body: contract.verificationRequest, answer: contract.verificationShape,
    summary: 'Authorize without charging', description: `Asks the issuer whether the method is good, and releases what it held. ${twice}`,
  },
  {
    id: 'authorize', method: 'post', path: '/payments', body: contract.paymentRequest, answer: contract.paymentShape,
    summary: 'Charge, or hold for a later capture',
    description: `Declined: 402 with the declined payment inside, which look-ups find too. ${twice} Another \`idempotency-key\` with a reference that is taken: 409 \`reference_taken\`.`,
  },
  {
    id: 'capture', method: 'post', path: '/payments/{id}/captures', body: contract.captureRequest, answer: contract.operationShape,
    summary: 'Take what was held', description: `Once per payment; the rest is released. ${twice}`,
  },
  {
    id: 'refund', method: 'post', path: '/payments/{id}/refunds', body: contract.refundRequest, answer: contract.operationShape,
    summary: 'Give back', description: `In parts, until all that was captured is given back; \`pending\` where it takes time. ${twice}`,
  },
  {
    id: 'void', method: 'post', path: '/voids', body: contract.voidRequest, answer: contract.operationShape,
    summary: 'Cancel what is not captured',
    description: `Releases an authorization, ends a challenge or a pending payment. Nothing under that reference: answers with \`payment: null\`, and a payment that arrives later is refused with \`reference_closed\`. ${twice}`,
  },
  {
    id: 'lookupPayment', method: 'get', path: '/payments/by-reference', query: reference, answer: contract.paymentListShape,
    summary: 'What became of a payment', description: 'Strongly consistent: sees everything that was answered or applied before. Empty where there is none.',
  },
  {
    id: 'lookupOperation', method: 'get', path: '/operations', answer: contract.operationListShape,
    query: { ...reference, kind: { description: 'Of what kind', required: true, schema: { type: 'string', enum: ['capture', 'void', 'refund'] } } },
    summary: 'What became of a capture, void or refund', description: 'Strongly consistent, as above. A refused one is not there.',
  },
  {
    id: 'list', method: 'get', path: '/payments', answer: contract.paymentPageShape,
    query: {
      since: { description: 'Made at or after, RFC 3339', required: true, schema: { type: 'string', format: 'date-time' } },
      until: { description: 'Made before, RFC 3339', required: true, schema: { type: 'string', format: 'date-time' } },
      limit: { description: 'Longest page', schema: { type: 'integer', minimum: 1, maximum: 100 } },
      cursor: { description: '`next_cursor` of the page before' },
    },
    summary: 'Payments of a time range', description: 'For reconciliation, oldest first. Optional: `settings.list` says whether it is there.',
  },
];

const codes = `The table of codes:

| status | code | read as | meaning |
|---|---|---|---|
${[...declineRows, ...refusalRows].map((row) => `| ${row.status} | \`${row.code}\` | ${row.outcomeClass} | ${row.meaning} |`).join('\n')}

402 with another code is \`generic_decline\`. Everything else is an unknown outcome that is looked up, never a refusal: 5xx, 408, 409, 425, 499, a code under another status, a body of another shape, no or a wrong signature.`;

const example = {
  secret: '0123456789abcdef0123456789abcdef',
  request: { kind: 'request', method: 'POST', target: '/payments', idempotencyKey: 'k-1', body: '{"reference":"r-1"}' },
  atSeconds: 1_700_000_000,
} as const;
const exampleRequest = sign(example.secret, example.request, example.atSeconds);
const exampleAnswer = sign(example.secret, { kind: 'answer', status: 201, request: signatureOf(exampleRequest), body: '{}' }, example.atSeconds);

const about = `What Signalbox asks of a provider that you run yourself. Amounts are integers in the currency's smallest unit.

**Signatures, both ways.** \`${signatureHeader}: t=<unix seconds>,k=<key id>,v1=<hex>\`, HMAC-SHA256 under the shared secret over these lines, joined by a line feed:
- request: \`request\`, t, method, path with query as sent, \`idempotency-key\` (empty line without one), body as sent
- answer, of every status: \`answer\`, t, status, the \`v1\` of the request, body
- callback: \`callback\`, t, body

The key id is the first 16 hex digits of HMAC-SHA256(secret, "key-id"). Compare in constant time; refuse a \`t\` more than ${toleranceSeconds} s away with 401 \`invalid_signature\`. While a secret is replaced both sides accept both; an answer is signed with the key of its request, else with your newest.

To compare with: the secret \`${example.secret}\`, t ${example.atSeconds}, \`POST /payments\` with the key \`k-1\` and the body \`${example.request.body}\` is signed
\`${exampleRequest}\`, its answer 201 with the body \`{}\` is signed \`${exampleAnswer}\`.

**Once.** Every POST carries \`idempotency-key\`. Keep keys at least 24 h (else say so in \`settings.idempotency_window_ms\`). The same key with another body or path: 409 \`idempotency_key_reused\`. While the first is still running: wait for it, or 409 \`idempotency_key_in_use\`. Answer only after what was done is on disk.

**Time.** Signalbox waits 60 s (\`settings.total_timeout_ms\`), then asks again with the same key and looks up. What may still take effect after the connection closed must do so within 10 min (\`settings.settle_after_ms\`).

**Sandbox tokens.** \`tok_approved\`; \`tok_<decline code>\` is stored and verified, and its payments are declined with that code, at least for \`do_not_honor insufficient_funds lost_card authentication_required suspected_fraud\`; \`tok_do_not_try_again\` adds \`network: {brand: "mastercard", advice_code: "03"}\`; \`tok_refused\` is declined with \`do_not_honor\` at verification. Where you have them: \`tok_challenge\` (\`requires_action\`; absent customer: \`authentication_required\`), \`tok_pending\`.

${codes}`;

/** The contract as an OpenAPI 3.0 document; `contract.openapi.json` is its text. */
export function contractDocument(): object {
  return {
    openapi: '3.0.3',
    info: { title: 'Signalbox provider contract', version: String(contract.contractVersion), description: about },
    servers: [{ url: '{base_url}', variables: { base_url: { default: 'https://provider.example.com/signalbox', description: '`settings.base_url` of the connection' } } }],
    paths: paths(),
    components: { schemas: schemas() },
  };
}

function paths(): Record<string, Record<string, object>> {
  const byPath: Record<string, Record<string, object>> = {};
  for (const operation of operations) byPath[operation.path] = { ...byPath[operation.path], [operation.method]: describe(operation) };
  return byPath;
}

function describe({ id, method, path, summary, description, body, query, answer }: ContractOperation): object {
  return {
    operationId: id,
    summary,
    description,
    parameters: [
      header(signatureHeader, 'See above', true),
      ...(method === 'post' ? [header('idempotency-key', 'See above', true)] : []),
      ...(path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, description: 'Of the payment', schema: { type: 'string' } }] : []),
      ...Object.entries(query ?? {}).map(([name, { schema = { type: 'string' }, required = false, ...more }]) => ({ name, in: 'query', required, ...more, schema })),
    ],
    ...(body ? { requestBody: { required: true, content: json(body) } } : {}),
    responses: {
      [method === 'post' ? '201' : '200']: { description: method === 'post' ? 'Done, or accepted (200 is read alike)' : 'As it stands', headers: signed, content: json(answer) },
      default: { description: 'Refused; see the table of codes', headers: signed, content: json(contract.refusalShape) },
    },
    ...(id === 'authorize' ? { callbacks } : {}),
  };
}

const signed = { [signatureHeader]: { description: 'See above', required: true, schema: { type: 'string' } } };

const callbacks = {
  changed: {
    '{$request.body#/callback_url}': {
      post: {
        summary: 'What was learned later',
        description: 'Repeat until a 2xx comes, over hours. Order does not matter, and the same event twice neither.',
        parameters: [header(signatureHeader, 'See above', true)],
        requestBody: { required: true, content: json(contract.callbackShape) },
        responses: { '2XX': { description: 'Stored' } },
      },
    },
  },
};

function header(name: string, description: string, required: boolean): object {
  return { name, in: 'header', required, description, schema: { type: 'string' } };
}

function json(shape: Shape): object {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${shape.meta()!.id}` } } };
}

function schemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const shape of Object.values(contract)) {
    const id = shape instanceof z.ZodType ? shape.meta()?.id : undefined;
    if (id) registry.add(shape as Shape, { id });
  }
  const made = z.toJSONSchema(registry, {
    target: 'openapi-3.0',
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  }).schemas as Record<string, Record<string, unknown>>;
  return Object.fromEntries(Object.entries(made).map(([id, { $id: _id, $schema: _schema, ...schema }]) => [id, schema]));
}
