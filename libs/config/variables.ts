import { z } from 'zod';

/** One environment variable: how it is read and what it means. `defaultText` is what stands in for an absent value. */
export interface Variable<T> {
  name: string;
  type: string;
  meaning: string;
  defaultText: string | null;
  secret: boolean;
  schema: z.ZodType<T, string>;
}

interface Description {
  type: string;
  meaning: string;
  secret?: boolean;
}

function required<T>(name: string, schema: z.ZodType<T, string>, description: Description): Variable<T> {
  return { name, schema, defaultText: null, secret: false, ...description };
}

function withDefault<T>(name: string, schema: z.ZodType<T, string>, defaultText: string, description: Description): Variable<T> {
  return { name, schema, defaultText, secret: false, ...description };
}

const port = z.string().regex(/^\d+$/, 'is not a port number').transform(Number).pipe(z.number().int().max(65_535));
const whole = (least: number) => z.string().regex(/^\d+$/, 'is not a whole number').transform(Number).pipe(z.number().min(least));
const wholeBetween = (least: number, most: number) => whole(least).pipe(z.number().max(most));
const flag = z.enum(['0', '1'], 'is neither 0 nor 1').transform((value) => value === '1');
const list = z.string().transform((value) => value.split(',').map((part) => part.trim()).filter((part) => part !== ''));
const networks = list.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()], 'is not a list of CIDR ranges')));
const retrySchedule = list
  .transform((parts) => parts.map(Number))
  .refine((seconds) => seconds[0] === 0 && seconds.every((value) => Number.isFinite(value) && value >= 0), { error: 'is not a list of seconds that starts with 0' });
const lookupOffsets = list
  .transform((parts) => parts.map((part) => Number(part) * 1_000))
  .refine((offsets) => offsets.length > 0 && offsets.every((value, index) => value > (offsets[index - 1] ?? 0)), { error: 'is not a rising list of seconds' });
const optionalUrl = z.union([z.literal('').transform(() => null), z.url({ protocol: /^https?$/, error: 'is not an http(s) URL' })]);

const optionalSmtpUrl = z.union([
  z.literal('').transform(() => null),
  z.url({ protocol: /^smtps?$/, error: 'is not an smtp:// or smtps:// URL' }).transform((text) => new URL(text)),
]);
const optionalAddress = z.union([z.literal('').transform(() => null), z.email('is not an e-mail address')]);
const delays = list
  .transform((parts) => parts.map(Number))
  .refine((seconds) => seconds.every((value) => Number.isFinite(value) && value > 0), { error: 'is not a list of seconds' });

const base64Key = (bytes: number) =>
  z.string().refine((value) => /^[A-Za-z0-9+/]+={0,2}$/.test(value) && Buffer.from(value, 'base64').length >= bytes, {
    error: `is not base64 of at least ${bytes} bytes`,
  });

const optionalKey = z.union([z.literal('').transform(() => null), base64Key(32).transform((value) => Buffer.from(value, 'base64'))]);

export interface SecretKey {
  id: string;
  key: Buffer;
}

const secretKeys = z.string().transform((value, context): SecretKey[] => {
  const keys = value.split(',').map((part) => {
    const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(part.trim()) ?? [];
    return id === undefined || encoded === undefined ? null : { id, key: Buffer.from(encoded, 'base64') };
  });
  const read = keys.filter((key) => key !== null);
  if (read.length !== keys.length) context.addIssue('is not a list of id:base64 of 32 bytes');
  if (new Set(read.map((key) => key.id)).size !== read.length) context.addIssue('names a key id twice');
  return read;
});

export const queueNames = ['payments', 'subscriptions', 'webhooks', 'webhooks-slow', 'test-clocks'] as const;
export type QueueName = (typeof queueNames)[number];
const queues = list.pipe(z.array(z.enum(queueNames, `names a queue other than ${queueNames.join(', ')}`)).nonempty('names no queue'));

export const defaultLookupSchedule = '5,30,120,600,3600,21600,86400';

export interface Limit {
  count: number;
  seconds: number;
}

const limit = z.string().regex(/^[1-9]\d{0,8}\/[1-9]\d{0,6}$/, 'is not count/seconds').transform((value): Limit => {
  const [count, seconds] = value.split('/').map(Number) as [number, number];
  return { count, seconds };
});

/** Every variable that the processes read, in the order of the README's table. Add one here and nowhere else. */
export const variables = {
  environment: required('SIGNALBOX_ENV', z.enum(['production', 'staging'], 'is neither production nor staging'), {
    type: 'production | staging',
    meaning: 'The environment that this process serves; nothing crosses from one to the other.',
  }),
  databaseBaseUrl: required('DATABASE_URL', z.url({ protocol: /^postgres(ql)?$/, error: 'is not a postgres:// URL' }), {
    type: 'postgres URL',
    meaning: 'Names the base of the database; `_staging` or `_production` is added to its name.',
    secret: true,
  }),
  databasePoolSize: withDefault('DATABASE_POOL_SIZE', whole(1), '20', {
    type: 'integer',
    meaning: 'Most connections to Postgres that one process opens.',
  }),
  temporalAddress: withDefault('TEMPORAL_ADDRESS', z.string().regex(/^[^\s/]+:\d+$/, 'is not host:port'), '127.0.0.1:7233', {
    type: 'host:port',
    meaning: 'Frontend of the Temporal service.',
  }),
  temporalNamespaceBase: withDefault('TEMPORAL_NAMESPACE', z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'is not a namespace'), 'signalbox', {
    type: 'text',
    meaning: 'Base of the namespace; `-staging` or `-production` is added.',
  }),
  apiHost: withDefault('API_HOST', z.string().min(1), '127.0.0.1', { type: 'address', meaning: 'Address on which the process listens.' }),
  apiPort: withDefault('API_PORT', port, '4100', { type: 'port', meaning: 'Port of the REST interface; 0 takes a free one.' }),
  metricsPort: withDefault('METRICS_PORT', port, '9464', {
    type: 'port',
    meaning: 'Port of `/metrics` (and of a worker\'s `/healthz` and `/readyz`); 0 takes a free one.',
  }),
  publicUrlText: withDefault('PUBLIC_URL', optionalUrl, '', {
    type: 'URL',
    meaning: 'Base URL under which callers reach this environment, used in links and error types; empty: http://API_HOST:API_PORT.',
  }),
  simulatorUrl: withDefault('SIMULATOR_URL', optionalUrl, '', {
    type: 'URL',
    meaning: 'Where the simulated provider answers. Staging only: production refuses to start with it.',
  }),
  simulatorSecret: withDefault('SIMULATOR_SECRET', optionalKey, '', {
    type: 'base64',
    meaning: 'Key of at least 32 bytes that the simulated provider signs its callbacks with; empty: they are refused. Staging only.',
    secret: true,
  }),
  secretKeys: required('SIGNALBOX_SECRET_KEYS', secretKeys, {
    type: 'id:base64[,…]',
    meaning: 'Keys of 32 bytes for secrets at rest; the first encrypts, all of them decrypt.',
    secret: true,
  }),
  tokenKey: required('SIGNALBOX_TOKEN_KEY', base64Key(32).transform((value) => Buffer.from(value, 'base64')), {
    type: 'base64',
    meaning: 'Key of at least 32 bytes for the hashes of API tokens and for idempotency fingerprints.',
    secret: true,
  }),
  local: withDefault('SIGNALBOX_LOCAL', flag, '0', {
    type: '0 | 1',
    meaning: '1 when one machine runs everything (`npm start`): staging may then send webhooks to loopback addresses.',
  }),
  queues: withDefault('SIGNALBOX_QUEUES', queues, queueNames.join(','), { type: 'list', meaning: 'Task queues that a worker process serves.' }),
  trustedProxies: withDefault('SIGNALBOX_TRUSTED_PROXIES', list, '', {
    type: 'list of addresses or CIDR ranges',
    meaning: 'Proxies whose `X-Forwarded-For` is believed; empty: none.',
  }),
  rateLimitPerSecond: withDefault('RATE_LIMIT_PER_SECOND', whole(1), '500', {
    type: 'integer',
    meaning: 'Requests a second that one token may send to one API process.',
  }),
  eventStreams: withDefault('EVENT_STREAMS', whole(1), '500', { type: 'integer', meaning: 'Event streams that one API process keeps open.' }),
  eventStreamsPerAccount: withDefault('EVENT_STREAMS_PER_ACCOUNT', whole(1), '50', { type: 'integer', meaning: 'Those of one account.' }),
  eventStreamsPerToken: withDefault('EVENT_STREAMS_PER_TOKEN', whole(1), '10', { type: 'integer', meaning: 'Those of one token.' }),
  eventExportsPerAccount: withDefault('EVENT_EXPORTS_PER_ACCOUNT', whole(1), '3', { type: 'integer', meaning: 'Exports of events that one account runs at the same time in one API process.' }),
  eventReaderStallSeconds: withDefault('EVENT_READER_STALL_SECONDS', whole(1), '60', {
    type: 'seconds',
    meaning: 'A reader of a stream or an export that takes nothing for so long is cut off; it goes on from its last event.',
  }),
  linkAttemptsPerAddress: withDefault('LINK_ATTEMPTS_PER_ADDRESS', limit, '10/600', {
    type: 'count/seconds',
    meaning: 'Tries to pay through links that one address of a visitor may make; more are answered with 429.',
  }),
  linkAttemptsPerMethod: withDefault('LINK_ATTEMPTS_PER_METHOD', limit, '5/3600', {
    type: 'count/seconds',
    meaning: 'Tries of one card through links of one account that may go without success.',
  }),
  linkAttemptsPerLink: withDefault('LINK_ATTEMPTS_PER_LINK', limit, '100/600', {
    type: 'count/seconds',
    meaning: 'Tries to pay that one payment link accepts.',
  }),
  linkDeclinesToPause: withDefault('LINK_DECLINES_TO_PAUSE', limit, '20/600', {
    type: 'count/seconds',
    meaning: 'Declines after which a payment link pauses itself.',
  }),
  logLevel: withDefault('LOG_LEVEL', z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'is not a level of pino'), 'info', {
    type: 'level',
    meaning: 'Least level that is logged.',
  }),
  shutdownGraceSeconds: withDefault('SHUTDOWN_GRACE_SECONDS', whole(0), '15', {
    type: 'seconds',
    meaning: 'How long a process that was told to stop finishes what it has begun.',
  }),
  paymentSlots: withDefault('PAYMENT_SLOTS', whole(1), '500', {
    type: 'integer',
    meaning: 'Workflow, local and normal activity slots of queue `payments`.',
  }),
  paymentCachedWorkflows: withDefault('PAYMENT_CACHED_WORKFLOWS', whole(1), '600', {
    type: 'integer',
    meaning: 'Workflows of queue `payments` kept in memory.',
  }),
  subscriptionSlots: withDefault('SUBSCRIPTION_SLOTS', whole(1), '30', {
    type: 'integer',
    meaning: 'Workflow slots of queue `subscriptions`.',
  }),
  subscriptionCachedWorkflows: withDefault('SUBSCRIPTION_CACHED_WORKFLOWS', whole(1), '300', {
    type: 'integer',
    meaning: 'Workflows of queue `subscriptions` kept in memory.',
  }),
  testClockSlots: withDefault('TEST_CLOCK_SLOTS', whole(1), '4', {
    type: 'integer',
    meaning: 'Test clocks that one worker process moves at once (staging only).',
  }),
  subscriptionJitterSeconds: withDefault('SUBSCRIPTION_JITTER_SECONDS', whole(0), '60', {
    type: 'seconds',
    meaning: 'Renewals are charged up to this long after their period began, spread by subscription; 0: at once.',
  }),
  breakerCalls: withDefault('BREAKER_CALLS', whole(1), '50', {
    type: 'integer',
    meaning: 'How many of the latest calls to a connection decide whether payments are kept away from it.',
  }),
  breakerWindowSeconds: withDefault('BREAKER_WINDOW_SECONDS', whole(1), '300', { type: 'seconds', meaning: 'Older calls do not count.' }),
  breakerMinSamples: withDefault('BREAKER_MIN_SAMPLES', whole(1), '20', { type: 'integer', meaning: 'With fewer calls a connection is never set aside.' }),
  breakerBadPercent: withDefault('BREAKER_BAD_PERCENT', whole(1).pipe(z.number().max(100)), '50', {
    type: 'percent',
    meaning: 'A connection is set aside when so many of the calls failed (`not_sent`, `processor_error`, `unknown`) or were too slow.',
  }),
  breakerSlowMs: withDefault('BREAKER_SLOW_MS', whole(1), '5000', {
    type: 'milliseconds',
    meaning: 'A call that takes longer counts as failed, also while it still runs; at most half of the connection\'s deadline.',
  }),
  breakerProbePercent: withDefault('BREAKER_PROBE_PERCENT', whole(1).pipe(z.number().max(100)), '5', {
    type: 'percent',
    meaning: 'Share of the payments that still go to a connection that is set aside, to find out whether it works again.',
  }),
  breakerRestSeconds: withDefault('BREAKER_REST_SECONDS', whole(0), '5', {
    type: 'seconds',
    meaning: 'From setting a connection aside, and from each probe that failed, until the next probe.',
  }),
  lookupOffsets: withDefault('PAYMENT_LOOKUP_SCHEDULE', lookupOffsets, defaultLookupSchedule, {
    type: 'list of seconds',
    meaning: 'When an attempt whose outcome is unknown is looked up, counted from when it became unknown. Fault runs compress it; production takes no other than the default.',
  }),
  webhookRetrySchedule: withDefault('WEBHOOK_RETRY_SCHEDULE', retrySchedule, '0,5,300,1800,7200,18000,36000,36000,50400,72000,86400', {
    type: 'list of seconds',
    meaning: 'Delay before each attempt of a webhook, counted from the failure before it; the first is 0. Each is spread by 20 %.',
  }),
  webhookDisableAfterSeconds: withDefault('WEBHOOK_DISABLE_AFTER_SECONDS', whole(1), '432000', {
    type: 'seconds',
    meaning: 'How long a webhook endpoint may do nothing but fail before it is disabled.',
  }),
  webhookFailingAfterSeconds: withDefault('WEBHOOK_FAILING_AFTER_SECONDS', whole(1), '3600', {
    type: 'seconds',
    meaning: 'How long a webhook endpoint may do nothing but fail before the other endpoints and the attention list are told.',
  }),
  webhookDeadlineMs: withDefault('WEBHOOK_DEADLINE_MS', whole(100).pipe(z.number().max(30_000)), '15000', {
    type: 'milliseconds',
    meaning: 'How long one post of a webhook may take, over name, connection, TLS, headers and body.',
  }),
  webhookAttemptDays: withDefault('WEBHOOK_ATTEMPT_DAYS', wholeBetween(30, 90), '30', {
    type: 'days, 30 to 90',
    meaning: 'How long each attempt of a webhook is kept. Deliveries and the bodies of events are kept for 90 days.',
  }),
  webhookAllowedNetworks: withDefault('WEBHOOK_ALLOWED_NETWORKS', networks, '', {
    type: 'list of CIDR ranges',
    meaning: 'Networks that webhooks may reach although they are not public; empty: none.',
  }),
  smtpUrl: withDefault('SMTP_URL', optionalSmtpUrl, '', {
    type: 'smtp(s) URL',
    meaning: 'Server that takes e-mail for customers, with user and password in it; `smtps` is TLS from the first byte, `smtp` takes STARTTLS where it is offered (in production, off the own machine, only with it). Empty: no e-mail is sent, and each row says so.',
    secret: true,
  }),
  smtpFrom: withDefault('SMTP_FROM', optionalAddress, '', { type: 'e-mail address', meaning: 'Sender of the e-mails; needed with `SMTP_URL`.' }),
  emailRetrySchedule: withDefault('EMAIL_RETRY_SCHEDULE', delays, '60,300,900,3600,10800,21600,43200,86400', {
    type: 'list of seconds',
    meaning: 'Delays after each failed try to hand over an e-mail; after the last it is given up.',
  }),
  emailConnections: withDefault('EMAIL_CONNECTIONS', whole(1), '5', { type: 'integer', meaning: 'E-mails that one worker hands over at the same time.' }),
  webhookSockets: withDefault('WEBHOOK_SOCKETS', whole(1), '400', {
    type: 'integer',
    meaning: 'Webhooks that one process posts at the same time.',
  }),
  webhookSlots: withDefault('WEBHOOK_SLOTS', whole(1), '200', { type: 'integer', meaning: 'Activity slots of queue `webhooks`.' }),
  slowWebhookSlots: withDefault('SLOW_WEBHOOK_SLOTS', whole(1), '50', { type: 'integer', meaning: 'Activity slots of queue `webhooks-slow`.' }),
};

export type Values = { [K in keyof typeof variables]: (typeof variables)[K] extends Variable<infer T> ? T : never };
